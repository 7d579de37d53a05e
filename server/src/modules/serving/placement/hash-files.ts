import { createHash } from 'node:crypto';
import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';

/** Returns a hash that is equal for the same files under the same paths. */
export function hashFiles(files: InputFile[]): string {
  const hash = createHash('sha256');
  for (const { path, sha256 } of files) hash.update(`${sha256} ${path}\n`);
  return hash.digest('hex');
}
