import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import * as z from 'zod';
import { keepListening } from '../db/keep-listening.ts';

const CHANNEL = 'bakehouse_row_change';
const rowChange = z.object({ of: z.string(), id: z.string() });

/** A row that something in memory is made from has changed: `of` is what its trigger says (`notify_row_change`). */
export type RowChange = z.infer<typeof rowChange>;

/** Announces every change that any process commits to rows which have such a trigger. */
export type RowChanges = {
  /** Whether all that was committed until less than a second ago has been announced. Who asks gets it kept so. */
  areCurrent: () => boolean;
  /**
   * Resolves once what was committed before the call holds in this process: it was announced, or nothing that is
   * kept is used. For calls whose change must hold for the caller's very next one.
   */
  catchUp: () => Promise<void>;
  /** Calls `listener` for each change, and with null where some may have been missed. */
  subscribe: (listener: Listener) => void;
  /**
   * The same until the returned function is called, for what must learn of each change within a second: until then
   * changes are kept heard, and as long as they are not, `listener` is called with null again and again.
   */
  watch: (listener: Listener) => () => void;
};

type Listener = (change: RowChange | null) => void;

const PING_MS = 200;
/** So long after a ping that was answered was sent the connection is believed to be whole: with a ping's pause less than a second. */
const VALIDITY_MS = 700;
/** A ping that comes so long after the one before is late: this process itself stood still. */
const LATE_MS = VALIDITY_MS - PING_MS;
/** So long after it was last asked for, nothing is kept heard any more. */
const IDLE_MS = 2 * 60_000;

/**
 * Listens for changed rows. PostgreSQL sends what is committed before it answers what was asked after: as long as
 * the connection answers, nothing was missed. One that is broken, or that says nothing, is found out within a second.
 */
export async function openRowChanges(
  url: string,
  log: Logger,
  now: () => number = () => performance.now(),
): Promise<RowChanges & { close: () => Promise<void> }> {
  const listeners = new Set<Listener>();
  const watchers = new Set<Listener>();
  let askedAt = Number.NEGATIVE_INFINITY;
  const announce = (change: RowChange | null) => {
    for (const listener of [...listeners, ...watchers]) listener(change);
  };

  const pulse = createPulse(() => listening.client(), log, now);
  const listening = await keepListening({
    url,
    name: 'bakehouse row changes',
    channel: CHANNEL,
    onMessage: (payload) => announce(rowChange.parse(JSON.parse(payload ?? 'null'))),
    onBreak: () => {
      pulse.stop();
      announce(null);
    },
    onReconnect: () => announce(null),
    log,
  });

  const { ping, isCurrent } = pulse;
  let tickedAt = now();
  const tick = async () => {
    const isLate = now() - tickedAt > LATE_MS;
    tickedAt = now();
    const answered = watchers.size > 0 || tickedAt - askedAt < IDLE_MS ? ping() : undefined;
    // The connection may be whole all the same: all that watch would read their rows at once for nothing.
    if (isLate) await answered;
    if (!isCurrent()) for (const watcher of [...watchers]) watcher(null);
  };
  const timer = setInterval(() => void tick(), PING_MS).unref();

  return {
    areCurrent: () => {
      const at = now();
      if (at - askedAt >= IDLE_MS) void ping();
      askedAt = at;
      return isCurrent();
    },
    catchUp: async () => {
      const asked = listening.client()?.query('select 1');
      await Promise.race([asked?.catch(() => undefined), sleep(VALIDITY_MS, undefined, { ref: false })]);
    },
    subscribe: (listener) => void listeners.add(listener),
    watch: (listener) => {
      if (!isCurrent()) void ping();
      watchers.add(listener);
      return () => void watchers.delete(listener);
    },
    close: async () => {
      clearInterval(timer);
      await listening.close();
    },
  };
}

/** Whether the listening connection is believed to be whole: until some time after a ping that was answered. */
function createPulse(client: () => pg.Client | null, log: Logger, now: () => number) {
  let currentUntil = Number.NEGATIVE_INFINITY;
  let isPinging = false;
  const ping = async () => {
    const asked = client();
    if (asked === null || isPinging) return;
    isPinging = true;
    const sentAt = now();
    try {
      await asked.query('select 1');
      if (asked === client()) currentUntil = sentAt + VALIDITY_MS;
    } catch (error) {
      log.warn({ err: error }, 'could not ask for changed rows');
    } finally {
      isPinging = false;
    }
  };
  const stop = () => {
    currentUntil = Number.NEGATIVE_INFINITY;
  };
  return { ping, stop, isCurrent: () => now() < currentUntil };
}
