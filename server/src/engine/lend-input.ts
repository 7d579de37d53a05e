import type { Database } from '../platform/db/database.ts';
import { upsertInput } from './files/file-queries.ts';

/** Lends a workload one more file than its spec names, which a request to it needs, until its files are deleted. */
export async function lendInput(
  db: Database,
  input: { workloadId: string; sha256: string; sizeBytes: number },
): Promise<void> {
  await upsertInput(db, input);
}
