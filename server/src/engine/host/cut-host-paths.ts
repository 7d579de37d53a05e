import path from 'node:path';
import type { Config } from '../../config.ts';
import { runtimeDir } from './environment/environment.ts';

export type HostFolders = Pick<Config, 'dataDir' | 'cacheDir'>;

/**
 * Cuts the paths inside our own folders down to their last name, '/data/workloads/7/model.gguf' to
 * 'model.gguf': people may read what a workload says, but not where its machine keeps things.
 */
export function cutHostPaths(config: HostFolders, text: string): string {
  const folders = [config.dataDir, config.cacheDir, runtimeDir].map((folder) => RegExp.escape(folder));
  // To the end of the path: where a word, or its quotation, ends.
  const paths = new RegExp(`(?:${folders.join('|')})[^\\s'"\`,;()<>]*`, 'g');
  return text.replace(paths, (found) => path.posix.basename(found));
}
