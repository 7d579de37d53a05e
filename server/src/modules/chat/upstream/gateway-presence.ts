import { setTimeout as pause } from 'node:timers/promises';
import type { HeartbeatResult } from '../../../engine/machines/heartbeat-loop.ts';

/**
 * Tracks which web processes send requests to this database's model servers. A process's knowledge of their
 * caches is valid only while no other process uses them.
 */
export type GatewayPresence = {
  /** Receives the result of each heartbeat of this process. */
  onBeat: (beat: HeartbeatResult) => void;
  /** Waits until this process may send, because all others know about it. Usually resolves immediately. */
  settled: (signal: AbortSignal) => Promise<void>;
  /** A number that stays the same while this process is the only one; null if others may exist. */
  alone: () => number | null;
};

/** For how long after a heartbeat a process may assume to be alone. */
const VALIDITY_MS = 6_000;
/** For how long a new process waits until no other process assumes to be alone. */
const SETTLE_MS = VALIDITY_MS + 1_000;

type Options = {
  /** Sends a heartbeat immediately, for a process that was suspended. */
  beat: () => Promise<HeartbeatResult>;
  /** A process is gone after this time without a heartbeat; after half of it, it counts as new. */
  goneMs: number;
  now?: () => number;
};

/** Tracks this process among the processes in its heartbeats. */
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
      // Count from before the commit, when the other processes last saw this process.
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
