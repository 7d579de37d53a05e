import path from 'node:path';
import type { Config } from '../../config.ts';
import { runtimeDir } from './environment/environment.ts';

export type HostFolders = Pick<Config, 'dataDir' | 'cacheDir'>;

/**
 * Cuts paths inside our own folders down to their last segment ('/data/workloads/7/model.gguf' to
 * 'model.gguf'): users may read a workload's messages, but not paths of its machine.
 */
export function cutHostPaths(config: HostFolders, text: string): string {
  const folders = [config.dataDir, config.cacheDir, runtimeDir].map((folder) => RegExp.escape(folder));
  // Up to the end of the path: the end of a word or quotation.
  const paths = new RegExp(`(?:${folders.join('|')})[^\\s'"\`,;()<>]*`, 'g');
  return text.replace(paths, (found) => path.posix.basename(found));
}
