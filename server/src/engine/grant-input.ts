import type { Database } from '../platform/db/database.ts';
import { upsertInput } from './files/file-queries.ts';

/** Grants a workload one more input than its spec names, for a request, until its files are deleted. */
export async function grantInput(
  db: Database,
  input: { workloadId: string; sha256: string; sizeBytes: number },
): Promise<void> {
  await upsertInput(db, input);
}
