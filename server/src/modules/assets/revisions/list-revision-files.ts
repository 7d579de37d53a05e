import { sql } from 'kysely';
import type { Database } from '../../../platform/db/database.ts';

export type RevisionFile = { path: string; sha256: string; sizeBytes: number };

type Wanted = { revisionId: string; after?: string | undefined; limit?: number };

/** Returns files of a revision after the path `after`, in order; all of them without a `limit`. */
export async function listRevisionFiles(
  db: Database,
  { revisionId, after, limit }: Wanted,
): Promise<RevisionFile[]> {
  const { rows } = await sql<{ path: string; sha256: string; size_bytes: bigint }>`
    select f.path, f.sha256, f.size_bytes
    from revisions r join asset_files f on f.asset_id = r.asset_id
    where r.id = ${revisionId} and f.first_number <= r.number
      and (f.last_number is null or f.last_number >= r.number)
      and (${after ?? null}::text is null or f.path > ${after ?? null})
    order by f.path limit ${limit ?? null}`.execute(db);
  return rows.map(({ path, sha256, size_bytes }) => ({ path, sha256, sizeBytes: Number(size_bytes) }));
}
