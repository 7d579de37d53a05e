import { setTimeout as pause } from 'node:timers/promises';
import type { Beat } from '../../../engine/machines/heartbeat.ts';

/**
 * Which web processes pass requests on to the model servers of this database. What a process knows
 * of their caches holds only while no other process uses them.
 */
export type GatewayPresence = {
  /** Hears what each beat of this process found. */
  onBeat: (beat: Beat) => void;
  /** Waits until this process may send: all others know of it by then. At once as a rule. */
  settled: (signal: AbortSignal) => Promise<void>;
  /** A number that stays the same for as long as this process is the only one; null: it may not be. */
  alone: () => number | null;
};

/** How long after it looked a process may take itself to be alone. */
const VALIDITY_MS = 6_000;
/** How long a new process waits until no other one does any more. */
const SETTLE_MS = VALIDITY_MS + 1_000;

type Options = {
  /** Makes a beat now, for a process that was suspended. */
  beat: () => Promise<Beat>;
  /** After so long unseen a process has gone; one that was not seen for half of it begins anew. */
  goneMs: number;
  now?: () => number;
};

/** This process among those that its beats find. */
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
      // From before the commit on: that is when the others have last heard of this process.
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
