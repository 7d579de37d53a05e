import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import * as z from 'zod';
import { listenWithReconnect } from '../db/listen-with-reconnect.ts';

const CHANNEL = 'bakehouse_row_change';
const rowChange = z.object({ of: z.string(), id: z.string() });

/** A changed row: `of` and `id` are the arguments of its trigger's `notify_row_change`. */
export type RowChange = z.infer<typeof rowChange>;

/** Announces every committed change, of any process, to rows of tables with this trigger. */
export type RowChanges = {
  /** Returns true if every change that was committed up to a second ago has been announced. */
  areCurrent: () => boolean;
  /**
   * Waits until no cached value from before the call is used any more in this process. Call it if the
   * caller's next call must see the effect of this one.
   */
  catchUp: () => Promise<void>;
  /**
   * Calls `listener` for each change, and with null if some may have been missed. Returns a function that
   * unsubscribes.
   */
  subscribe: (listener: Listener) => () => void;
  /** Returns the number of announcements so far. Compare two counts to detect a change in between. */
  count: () => number;
};

type Listener = (change: RowChange | null) => void;

const PING_MS = 200;
/**
 * How long an answered ping proves that the connection is current, counted from when it was sent. Together
 * with the pause between pings, less than a second.
 */
const VALIDITY_MS = 700;
/** Pings stop if `areCurrent` was not called for this long. */
const IDLE_MS = 2 * 60_000;

/**
 * Listens for changed rows. PostgreSQL delivers earlier notifications before it answers a query. So while the
 * connection answers pings, no change was missed. Detects a broken or silent connection within `VALIDITY_MS`.
 */
export async function openRowChanges(
  url: string,
  log: Logger,
  now: () => number = () => performance.now(),
): Promise<RowChanges & { close: () => Promise<void> }> {
  const listeners = new Set<Listener>();
  let askedAt = Number.NEGATIVE_INFINITY;
  let currentUntil = Number.NEGATIVE_INFINITY;
  let isPinging = false;
  let announced = 0;
  const announce = (change: RowChange | null) => {
    announced += 1;
    for (const listener of listeners) listener(change);
  };

  const listening = await listenWithReconnect({
    url,
    name: 'bakehouse row changes',
    channel: CHANNEL,
    onMessage: (payload) => announce(rowChange.parse(JSON.parse(payload ?? 'null'))),
    onBreak: () => {
      currentUntil = Number.NEGATIVE_INFINITY;
      announce(null);
    },
    onReconnect: () => announce(null),
    log,
  });

  const ping = async () => {
    const client = listening.client();
    if (client === null || isPinging) return;
    isPinging = true;
    const sentAt = now();
    try {
      await client.query('select 1');
      if (client === listening.client()) currentUntil = sentAt + VALIDITY_MS;
    } catch (error) {
      log.warn({ err: error }, 'failed to ping the connection for row changes');
    } finally {
      isPinging = false;
    }
  };
  const isIdle = () => now() - askedAt >= IDLE_MS;
  const timer = setInterval(() => {
    if (!isIdle()) void ping();
  }, PING_MS).unref();

  return {
    areCurrent: () => {
      if (isIdle()) void ping();
      askedAt = now();
      return askedAt < currentUntil;
    },
    catchUp: async () => {
      const answered = listening.client()?.query('select 1');
      await Promise.race([answered?.catch(() => undefined), sleep(VALIDITY_MS, undefined, { ref: false })]);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    count: () => announced,
    close: async () => {
      clearInterval(timer);
      await listening.close();
    },
  };
}
