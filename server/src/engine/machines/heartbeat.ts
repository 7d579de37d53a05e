import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Database } from '../../platform/db/database.ts';
import {
  findOtherWebProcesses,
  forgetProcesses,
  leaveProcess,
  noteProcess,
  type OtherWebProcesses,
} from './queries.ts';

const BEAT_MS = 2_000;
/** Beats that are farther apart have a break between them. */
export const BREAK_MS = 6_000;
/** A process that was not seen for so long has ended. */
export const LOST_AFTER_MS = 30_000;

export type Beat = {
  /** Just before this process was noted, and just before the others were counted; by `performance.now()`. */
  notedAt: number;
  lookedAt: number;
  /** Processes with role web besides this one. */
  others: OtherWebProcesses;
};

/** Beats every two seconds, and counts the other processes. */
export type Heartbeat = {
  /** This process's. */
  id: string;
  start: () => Promise<void>;
  /** Beats now; simultaneous calls share one beat. */
  beat: () => Promise<Beat>;
  /** Web processes at the last beat, this one included where it is one; never less than 1. */
  webProcesses: () => number;
  close: () => Promise<void>;
};

type Options = {
  db: Database;
  log: Logger;
  /** Null for a process that belongs to none. */
  machineId: string | null;
  /** Over the server's secret; null: not compared. */
  secretCheck?: Buffer | null;
  roles: string[];
  /** Where work reaches this process; asked with each beat of one with role web. */
  url?: () => string;
  /** The model servers that this process has sent requests to since it was asked last. */
  asked?: () => string[];
  onBeat?: (beat: Beat) => void;
};

/**
 * This process's row in the database, kept up until `close`. It is committed before the others are counted, so of two
 * that start together at least one sees the other. While the database is unavailable no reports are accepted either:
 * the first beat after a failed one starts a new span.
 */
export function createHeartbeat(options: Options): Heartbeat {
  const { db, log, machineId, secretCheck = null, roles, url, asked = () => [], onBeat } = options;
  const id = randomUUID();
  const isWeb = roles.includes('web');
  let anew = false;
  let others = 0;
  let closed = false;
  let beating: Promise<Beat> | null = null;
  let timer: NodeJS.Timeout | undefined;

  const beatOnce = async (): Promise<Beat> => {
    const notedAt = performance.now();
    try {
      const answersAt = isWeb && url ? url() : null;
      const row = { id, machineId, secretCheck, roles, url: answersAt, asked: asked() };
      await noteProcess(db, { ...row, anew, breakMs: BREAK_MS });
      anew = false;
    } catch (error) {
      anew = true;
      throw error;
    }
    const lookedAt = performance.now();
    const found = await findOtherWebProcesses(db, id, LOST_AFTER_MS);
    others = found.count;
    const made = { notedAt, lookedAt, others: found };
    onBeat?.(made);
    return made;
  };
  const beat = (): Promise<Beat> => {
    beating ??= beatOnce().finally(() => {
      beating = null;
    });
    return beating;
  };
  const repeat = () => {
    timer = setTimeout(() => {
      beat()
        .catch((error: unknown) =>
          log.warn(
            { err: error },
            'the heartbeat failed: reports of workloads are not accepted until one succeeds',
          ),
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
      await forgetProcesses(db);
      repeat();
    },
    beat,
    webProcesses: () => Math.max(1, others + (isWeb ? 1 : 0)),
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await beating?.catch(() => undefined);
      // Without a database the others notice its silence.
      await leaveProcess(db, id).catch((error: unknown) =>
        log.warn({ err: error }, 'could not sign this process off'),
      );
    },
  };
}
