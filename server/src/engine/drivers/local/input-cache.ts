import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../../config.ts';

type Settings = Pick<Config, 'cacheDir'>;

/** Returns the folder of inputs that the workloads of this machine share. */
export function inputCacheDir({ cacheDir }: Settings): string {
  return path.join(cacheDir, 'inputs');
}

/** Creates the folder of the input cache, and makes it accessible to the server only. */
export async function restrictInputCache(settings: Settings): Promise<void> {
  await mkdir(inputCacheDir(settings), { recursive: true });
  await chmod(inputCacheDir(settings), 0o700);
}
