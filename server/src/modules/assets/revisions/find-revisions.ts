import type { Database, Transaction } from '../../../platform/db/database.ts';
import { selectRevisions } from '../queries.ts';

export type NamedRevision = { assetId: string; revisionId: string; number: number; title: string };

/** Returns revisions with their assets by id, without deleted and unreadable assets. */
export async function findRevisions(
  db: Database | Transaction,
  wanted: { ids: string[]; userId: string },
): Promise<Map<string, NamedRevision>> {
  if (wanted.ids.length === 0) return new Map();
  const rows = await selectRevisions(db, wanted);
  return new Map(rows.map((row) => [row.revisionId, row]));
}
