import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../platform/db/database.ts';
import { deleteGateway, findOtherGateways, noteGateway } from './gateway-queries.ts';

/**
 * Which web processes pass requests on to the model servers of this database. What a process knows
 * of their caches holds only while no other process uses them.
 */
export type GatewayPresence = {
  /** Enters this process in the list and keeps it there; only where it answers requests. */
  start: () => void;
  /** Waits until this process may send: all others know of it by then. At once as a rule. */
  settled: (signal: AbortSignal) => Promise<void>;
  /** A number that stays the same for as long as this process is the only one; null: it may not be. */
  alone: () => number | null;
  close: () => Promise<void>;
};

const BEAT_MS = 2_000;
/** So long after it looked a process believes that it is alone. */
const BELIEF_MS = 6_000;
/** So long a new process waits until no other believes that any more. */
const SETTLE_MS = BELIEF_MS + 1_000;
/** A process that was not seen for this long has gone; one that was suspended for half of it begins anew. */
const GONE_MS = 30_000;

type Now = () => number;

/**
 * This process's place in the list. Each row is committed before the others are counted, so of two
 * that begin together at least one sees the other and waits.
 */
export function gatewayPresence(
  db: Database,
  log: Logger,
  now: Now = () => performance.now(),
): GatewayPresence {
  const id = randomUUID();
  let seenAt = Number.NEGATIVE_INFINITY;
  let maySendAt = Number.POSITIVE_INFINITY;
  let believedUntil = Number.NEGATIVE_INFINITY;
  let epoch = 0;
  let closed = false;
  let beating: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  const look = async () => {
    const isNew = now() - seenAt > GONE_MS / 2;
    const noted = now();
    await noteGateway(db, id);
    const looked = now();
    const others = await findOtherGateways(db, id, GONE_MS);
    seenAt = noted;
    if (isNew)
      maySendAt = others.lastSeenMs === null ? looked : looked + Math.max(0, SETTLE_MS - others.lastSeenMs);
    if (others.lastSeenMs !== null) believedUntil = Number.NEGATIVE_INFINITY;
    else {
      if (looked > believedUntil) epoch += 1;
      // From before the commit on: that is when the others have last heard of this process.
      believedUntil = noted + BELIEF_MS;
    }
  };
  const beat = (): Promise<void> => {
    beating ??= look().finally(() => {
      beating = null;
    });
    return beating;
  };
  const repeat = () => {
    timer = setTimeout(() => {
      beat()
        .catch((error: unknown) => log.warn({ err: error }, 'could not look for other web processes'))
        .finally(() => {
          if (!closed) repeat();
        });
    }, BEAT_MS);
    timer.unref();
  };

  return {
    start: repeat,
    settled: async (signal) => {
      while (now() - seenAt > GONE_MS / 2 || now() < maySendAt) {
        if (now() - seenAt > GONE_MS / 2) await beat();
        else await pause(Math.max(1, maySendAt - now()), undefined, { signal });
      }
    },
    alone: () => (now() < believedUntil ? epoch : null),
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await beating?.catch(() => undefined);
      // Without a database it cannot say so: the others see it go by its silence.
      await deleteGateway(db, id).catch((error: unknown) =>
        log.warn({ err: error }, 'could not leave the list'),
      );
    },
  };
}
