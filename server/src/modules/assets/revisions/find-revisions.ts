import type { Database, Transaction } from '../../../platform/db/database.ts';
import { selectRevisions } from '../queries.ts';

export type NamedRevision = { assetId: string; revisionId: string; number: number; title: string };

/** What these revisions are of, by their ids; those of deleted assets are left out. */
export async function findRevisions(
  db: Database | Transaction,
  revisionIds: string[],
): Promise<Map<string, NamedRevision>> {
  if (revisionIds.length === 0) return new Map();
  const rows = await selectRevisions(db, revisionIds);
  return new Map(rows.map((row) => [row.revisionId, row]));
}
