import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../../config.ts';

type Settings = Pick<Config, 'cacheDir'>;

/** Inputs, shared by the workloads of this machine. */
export function inputCacheDir({ cacheDir }: Settings): string {
  return path.join(cacheDir, 'inputs');
}

/** Makes the inputs' cache, and keeps everybody else out of it: also of one that was open to all. */
export async function closeInputCache(settings: Settings): Promise<void> {
  await mkdir(inputCacheDir(settings), { recursive: true });
  await chmod(inputCacheDir(settings), 0o700);
}
