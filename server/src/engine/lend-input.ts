import type { Database } from '../platform/db/database.ts';
import { upsertInput } from './files/file-queries.ts';

/**
 * Lets a workload read one more file than its spec names, until its files are removed: what a request to it names. Its spec
 * stays as it is.
 */
export async function lendInput(
  db: Database,
  input: { workloadId: string; sha256: string; sizeBytes: number },
): Promise<void> {
  await upsertInput(db, input);
}
