import type { Context } from '../../../platform/context.ts';
import type { Database } from '../../../platform/db/database.ts';
import { addDownloads } from './queries.ts';

/** Downloads are written together, so often. */
const WRITE_EVERY_MS = 1_000;
const HOUR_MS = 60 * 60 * 1000;
/** Of so many pairs it is known that they were counted; beyond, some are counted again. */
const SEEN_MAX = 200_000;

type Counter = {
  hour: number;
  seen: Set<string>;
  waiting: Map<string, number>;
  timer: NodeJS.Timeout | null;
};

/** One for each database, as a process has one but in tests. */
const counters = new WeakMap<Database, Counter>();

/**
 * Counts that the caller downloads from an asset: once an hour, however many files and ranges they ask for. The request
 * waits for nothing; a process that is killed loses those of the last second.
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
    addDownloads(db, counts).catch((error: unknown) =>
      log.warn({ err: error }, 'downloads could not be counted'),
    );
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
