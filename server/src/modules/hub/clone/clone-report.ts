import type { Services } from '../../../platform/context.ts';
import { announceChange } from '../../../platform/events/publish-change.ts';
import { type RenewedLease, renewLeasePeriodically } from '../../../platform/leases/hold-lease.ts';
import type { Lease } from '../../../platform/leases/leased-table.ts';
import { type CloneRow, clonesTable } from './clones-table.ts';
import { insertLines } from './queries.ts';

/** Minimum interval between writes. */
const WRITE_EVERY_MS = 500;
/** Interval for renewing the lease if there is no progress to write. */
const RENEW_EVERY_MS = 2_000;
/** The speed is averaged over this time. */
const SPEED_MS = 5_000;

export type CloneReport = RenewedLease & {
  /** Adds a line to the clone's log. */
  log: (line: string) => void;
  /** Adds received bytes to the progress. The number is negative if received bytes must be fetched again. */
  addBytes: (bytes: number) => void;
  fileDone: () => void;
};

/**
 * Renews the lease of a clone, and writes its log and progress. `done` is what earlier attempts have copied.
 */
export function reportClone(
  services: Pick<Services, 'db' | 'clock' | 'log'>,
  lease: Lease<CloneRow>,
  done: { bytes: number; files: number },
): CloneReport {
  const { db } = services;
  const counts = { ...done };
  let came = 0;
  let lines: string[] = [];
  let isNew = false;
  const speed = measureSpeed();

  function readNews() {
    if (!isNew && lines.length === 0) return null;
    const [written, hasNews] = [lines, isNew];
    lines = [];
    isNew = false;
    return {
      ...(hasNews && {
        values: {
          bytes_done: BigInt(Math.max(0, counts.bytes)),
          files_done: counts.files,
          bytes_per_second: speed(came),
        },
      }),
      onWritten: async () => {
        if (written.length > 0) await insertLines(db, lease.id, written);
        announceChange(db, lease.row.user_id, { topic: 'clone', id: lease.id });
      },
    };
  }

  const kept = renewLeasePeriodically(services, {
    ...{ table: clonesTable, lease, renewEveryMs: RENEW_EVERY_MS, checkEveryMs: WRITE_EVERY_MS, readNews },
  });
  return {
    lost: kept.lost,
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
      await kept.stop();
      const rest = lines;
      lines = [];
      if (rest.length > 0 && !kept.lost.aborted) await insertLines(db, lease.id, rest);
    },
  };
}

/** Returns the recent speed in bytes per second from the total number of bytes at each call. */
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
