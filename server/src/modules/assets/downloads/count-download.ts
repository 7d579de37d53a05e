import { sql } from 'kysely';
import type { Context } from '../../../platform/context.ts';
import type { Database } from '../../../platform/db/database.ts';

/** Interval between batched writes. */
const WRITE_EVERY_MS = 1_000;

const HOUR_MS = 60 * 60 * 1000;

/**
 * Maximum remembered pairs of asset and user. Above it, the pairs are forgotten and some downloads count
 * twice.
 */
const SEEN_MAX = 200_000;

/** One counter per database, because tests use several databases in one process. */
const counters = new WeakMap<Database, Counter>();

type Counter = {
  hour: number;
  seen: Set<string>;
  waiting: Map<string, number>;
  timer: NodeJS.Timeout | null;
};

/**
 * Counts a download of the caller, at most once per asset and hour, however many files and ranges the caller
 * reads. Writes in the background, so a killed process loses the counts of the last second.
 */
export function countDownload({ caller: { userId }, clock, db, log }: Context, assetId: string): void {
  const counter = openCounter(db, Math.floor(clock.now().getTime() / HOUR_MS));
  const pair = `${assetId} ${userId}`;
  if (counter.seen.has(pair)) return;
  counter.seen.add(pair);
  counter.waiting.set(assetId, (counter.waiting.get(assetId) ?? 0) + 1);
  counter.timer ??= setTimeout(() => {
    counter.timer = null;
    const counts = [...counter.waiting];
    counter.waiting.clear();
    addDownloads(db, counts).catch((error: unknown) => log.warn({ err: error }, 'failed to count downloads'));
  }, WRITE_EVERY_MS).unref();
}

function openCounter(db: Database, hour: number): Counter {
  const known = counters.get(db);
  const counter = known ?? { hour, seen: new Set<string>(), waiting: new Map(), timer: null };
  if (!known) counters.set(db, counter);
  if (counter.hour !== hour || counter.seen.size >= SEEN_MAX) {
    counter.hour = hour;
    counter.seen.clear();
  }
  return counter;
}

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
