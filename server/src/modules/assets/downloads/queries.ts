import { sql } from 'kysely';
import type { Database } from '../../../platform/db/database.ts';

/** Adds to the download counts of existing assets, in the order of their ids, and locks the assets. */
export async function addDownloads(db: Database, counts: readonly [string, number][]): Promise<void> {
  const sorted = counts.toSorted(([a], [b]) => (a < b ? -1 : 1));
  await sql`
    insert into asset_downloads as counted (asset_id, downloads)
    select assets.id, added.downloads
    from unnest(${sorted.map(([id]) => id)}::uuid[], ${sorted.map(([, count]) => count)}::bigint[])
      as added (asset_id, downloads)
    join assets on assets.id = added.asset_id
    order by assets.id
    for key share of assets
    on conflict (asset_id) do update set downloads = counted.downloads + excluded.downloads`.execute(db);
}
