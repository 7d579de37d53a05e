import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Database } from '../../platform/db/database.ts';
import {
  deleteStaleProcesses,
  findOtherWebProcesses,
  markProcessEnded,
  type OtherWebProcesses,
  recordProcessHeartbeat,
} from './queries.ts';

const BEAT_MS = 2_000;
/** If two heartbeats of a process are further apart than this, reports may have been missed between them. */
export const BREAK_MS = 6_000;
/** A process that was not seen for this long counts as ended. */
export const LOST_AFTER_MS = 30_000;

export type HeartbeatResult = {
  /** When this process was recorded, and when the other processes were counted, by `performance.now()`. */
  notedAt: number;
  lookedAt: number;
  /** Other processes with role web. */
  others: OtherWebProcesses;
};

/** Sends a heartbeat every two seconds, and counts the other processes. */
export type HeartbeatLoop = {
  /** Id of this process. */
  id: string;
  start: () => Promise<void>;
  /** Sends a heartbeat now. Concurrent calls share one heartbeat. */
  beat: () => Promise<HeartbeatResult>;
  /** Web processes at the last heartbeat, including this one if it has role web; at least 1. */
  webProcesses: () => number;
  close: () => Promise<void>;
};

type Options = {
  db: Database;
  log: Logger;
  /** Null for a process without a machine. */
  machineId: string | null;
  /** Derived from the server's secret; null skips the comparison. */
  secretCheck?: Buffer | null;
  roles: string[];
  /** Returns the URL at which workloads reach this process. Called for web processes, at each heartbeat. */
  url?: () => string;
  /** Model servers that this process has sent requests to since the last call. */
  asked?: () => string[];
  onBeat?: (beat: HeartbeatResult) => void;
};

/**
 * Updates this process's row in the database until `close`. The row is committed before the other processes
 * are counted, so of two processes that start together at least one sees the other. While the database is
 * unavailable, reports cannot be accepted either. So the first heartbeat after a failed one starts a new
 * span.
 */
export function createHeartbeat(options: Options): HeartbeatLoop {
  const { db, log, machineId, secretCheck = null, roles, url, asked = () => [], onBeat } = options;
  const id = randomUUID();
  const isWeb = roles.includes('web');
  let startsSpan = false;
  let others = 0;
  let closed = false;
  let beating: Promise<HeartbeatResult> | null = null;
  let timer: NodeJS.Timeout | undefined;

  const beatOnce = async (): Promise<HeartbeatResult> => {
    const notedAt = performance.now();
    try {
      const answersAt = isWeb && url ? url() : null;
      const row = { id, machineId, secretCheck, roles, url: answersAt, asked: asked() };
      await recordProcessHeartbeat(db, { ...row, startsSpan, breakMs: BREAK_MS });
      startsSpan = false;
    } catch (error) {
      startsSpan = true;
      throw error;
    }
    const lookedAt = performance.now();
    const found = await findOtherWebProcesses(db, id, LOST_AFTER_MS);
    others = found.count;
    const made = { notedAt, lookedAt, others: found };
    onBeat?.(made);
    return made;
  };
  const beat = (): Promise<HeartbeatResult> => {
    beating ??= beatOnce().finally(() => {
      beating = null;
    });
    return beating;
  };
  const repeat = () => {
    timer = setTimeout(() => {
      beat()
        .catch((error: unknown) =>
          log.warn({ err: error }, 'heartbeat failed; workload reports are rejected until one succeeds'),
        )
        .finally(() => {
          if (!closed) repeat();
        });
    }, BEAT_MS);
    timer.unref();
  };

  return {
    id,
    start: async () => {
      await beat();
      await deleteStaleProcesses(db);
      repeat();
    },
    beat,
    webProcesses: () => Math.max(1, others + (isWeb ? 1 : 0)),
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await beating?.catch(() => undefined);
      // If the database is unavailable, the other processes notice that the heartbeats stop.
      await markProcessEnded(db, id).catch((error: unknown) =>
        log.warn({ err: error }, 'failed to mark this process as ended'),
      );
    },
  };
}
