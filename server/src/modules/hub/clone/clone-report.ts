import type { Services } from '../../../platform/context.ts';
import { announceChange } from '../../../platform/events/publish-change.ts';
import { type Lease, renewLease } from '../../../platform/leases/leased-table.ts';
import { type CloneRow, clonesTable } from './clones-table.ts';
import { insertLines } from './queries.ts';

/** What is new is written this often at most. */
const WRITE_EVERY_MS = 500;
/** A lease that nothing new is written under is renewed this often. */
const RENEW_EVERY_MS = 2_000;
/** The speed is that of so long. */
const SPEED_MS = 5_000;

/** Thrown out of a clone that is not this process's any more: cancelled, or leased by another. */
export class LeaseLost extends Error {}

export type CloneReport = {
  /** Aborted with LeaseLost when somebody else decides over the clone. */
  lost: AbortSignal;
  /** A line of its log. */
  log: (line: string) => void;
  /** Bytes that have come, or fewer than none for those that have to come again. */
  addBytes: (bytes: number) => void;
  fileDone: () => void;
  /** Nothing is written once it resolves. */
  stop: () => Promise<void>;
};

/** Keeps the lease of a clone, and writes its log and how far it is. `done` is what was copied before. */
export function reportClone(
  { db, clock, log }: Pick<Services, 'db' | 'clock' | 'log'>,
  lease: Lease<CloneRow>,
  done: { bytes: number; files: number },
): CloneReport {
  const lost = new AbortController();
  const counts = { ...done };
  let came = 0;
  let lines: string[] = [];
  let isNew = false;
  let wroteAt = performance.now();
  let writing: Promise<void> = Promise.resolve();
  let busy = false;
  const speed = measureSpeed();

  async function write(): Promise<void> {
    const [written, hasNews] = [lines, isNew];
    lines = [];
    isNew = false;
    wroteAt = performance.now();
    const values = hasNews
      ? {
          bytes_done: BigInt(Math.max(0, counts.bytes)),
          files_done: counts.files,
          bytes_per_second: speed(came),
        }
      : {};
    const renewed = await renewLease(db, clonesTable, lease, { now: clock.now(), values });
    if (!renewed) return lost.abort(new LeaseLost());
    if (written.length > 0) await insertLines(db, lease.id, written);
    if (hasNews || written.length > 0)
      announceChange(db, lease.row.user_id, { topic: 'clone', id: lease.id });
  }

  function ask(): void {
    const isIdle = !isNew && lines.length === 0;
    if (busy || (isIdle && performance.now() - wroteAt < RENEW_EVERY_MS)) return;
    // One at a time: a slow database is not asked more and more.
    busy = true;
    writing = write()
      .catch((error: unknown) => log.warn({ err: error }, 'the progress of a clone could not be written'))
      .finally(() => {
        busy = false;
      });
  }
  const timer = setInterval(ask, WRITE_EVERY_MS);

  return {
    lost: lost.signal,
    log: (line) => {
      lines.push(line);
    },
    addBytes: (bytes) => {
      counts.bytes += bytes;
      came += Math.max(0, bytes);
      isNew = true;
    },
    fileDone: () => {
      counts.files += 1;
      isNew = true;
    },
    stop: async () => {
      clearInterval(timer);
      await writing;
      const rest = lines;
      lines = [];
      if (rest.length > 0 && !lost.signal.aborted) await insertLines(db, lease.id, rest);
    },
  };
}

/** Bytes per second of the last seconds, by how many have come in all at each look. */
function measureSpeed(): (bytes: number) => bigint | null {
  const looks = [{ at: performance.now(), bytes: 0 }];
  return (bytes) => {
    const now = performance.now();
    looks.push({ at: now, bytes });
    while (looks.length > 2 && now - (looks[1]?.at ?? now) > SPEED_MS) looks.shift();
    const [first] = looks;
    const ms = first ? now - first.at : 0;
    return ms < WRITE_EVERY_MS / 2 ? null : BigInt(Math.round(((bytes - (first?.bytes ?? 0)) / ms) * 1000));
  };
}
