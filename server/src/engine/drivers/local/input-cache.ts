import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../../config.ts';

type Settings = Pick<Config, 'cacheDir'>;

/** Inputs, shared by the workloads of this machine. */
export function inputCacheDir({ cacheDir }: Settings): string {
  return path.join(cacheDir, 'inputs');
}

/** Makes the folder of the inputs' cache, readable by the server only, also where it was open before. */
export async function closeInputCache(settings: Settings): Promise<void> {
  await mkdir(inputCacheDir(settings), { recursive: true });
  await chmod(inputCacheDir(settings), 0o700);
}
