import { setTimeout as pause } from 'node:timers/promises';
import type { HeartbeatResult } from '../../../engine/machines/heartbeat-loop.ts';

/**
 * Tracks which web processes send requests to the model servers of this database. What a process knows about
 * the servers' prompt caches is only valid while it is the only such process.
 */
export type GatewayPresence = {
  /** Call with the result of each heartbeat of this process. */
  onBeat: (beat: HeartbeatResult) => void;
  /**
   * Waits until every other process knows about this one, so that it may send requests. Usually resolves
   * immediately.
   */
  settled: (signal: AbortSignal) => Promise<void>;
  /**
   * Returns a number that stays the same while this process is the only one. Null if there may be other
   * processes.
   */
  alone: () => number | null;
};

/** After a heartbeat without other processes, a process may assume for this long that it is the only one. */
const VALIDITY_MS = 6_000;
/** A new process waits this long. After it, every other process has noticed the new one. */
const SETTLE_MS = VALIDITY_MS + 1_000;

type Options = {
  /** Sends a heartbeat immediately. Used after this process was suspended. */
  beat: () => Promise<HeartbeatResult>;
  /**
   * Other processes count this one as gone after this time without a heartbeat. After half of this time, it
   * treats itself as new.
   */
  goneMs: number;
  now?: () => number;
};

/** Tracks the other processes from the results of this process's heartbeats. */
export function gatewayPresence({ beat, goneMs, now = () => performance.now() }: Options): GatewayPresence {
  let seenAt = Number.NEGATIVE_INFINITY;
  let maySendAt = Number.POSITIVE_INFINITY;
  let validUntil = Number.NEGATIVE_INFINITY;
  let epoch = 0;
  const isNew = () => now() - seenAt > goneMs / 2;

  return {
    onBeat: ({ notedAt, lookedAt, others }) => {
      if (notedAt - seenAt > goneMs / 2) {
        maySendAt =
          others.lastSeenMs === null ? lookedAt : lookedAt + Math.max(0, SETTLE_MS - others.lastSeenMs);
      }
      seenAt = notedAt;
      if (others.lastSeenMs !== null) {
        validUntil = Number.NEGATIVE_INFINITY;
        return;
      }
      if (lookedAt > validUntil) epoch += 1;
      // Count from before the commit: other processes may have read their heartbeat just before it.
      validUntil = notedAt + VALIDITY_MS;
    },
    settled: async (signal) => {
      while (isNew() || now() < maySendAt) {
        if (isNew()) await beat();
        else await pause(Math.max(1, maySendAt - now()), undefined, { signal });
      }
    },
    alone: () => (now() < validUntil ? epoch : null),
  };
}
