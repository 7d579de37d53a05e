import path from 'node:path';
import type { Config } from '../../config.ts';
import { runtimeDir } from './environment/environment.ts';

export type HostFolders = Pick<Config, 'dataDir' | 'cacheDir'>;

/**
 * Shortens paths inside our own folders to their last segment, such as '/data/workloads/7/model.gguf' to
 * 'model.gguf'. Users may read the messages of a workload, but not the paths of its machine.
 */
export function cutHostPaths(config: HostFolders, text: string): string {
  const folders = [config.dataDir, config.cacheDir, runtimeDir].map((folder) => RegExp.escape(folder));
  // A path ends where the word or quotation ends.
  const paths = new RegExp(`(?:${folders.join('|')})[^\\s'"\`,;()<>]*`, 'g');
  return text.replace(paths, (found) => path.posix.basename(found));
}
