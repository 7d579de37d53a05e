import type { ChangeEvent } from '@bakehouse/contract/events';
import type pg from 'pg';
import type { Logger } from 'pino';
import { openListener } from '../db/open-listener.ts';
import { CHANNEL, message, toPayload } from './publish-change.ts';

/** Tells listeners of any server process what changed for a user. */
export type Events = {
  /** Calls `listener` for every event of the user until the returned function is called. */
  subscribe: (userId: string, listener: (event: ChangeEvent) => void) => () => void;
  /**
   * Calls `listener` whenever the connection is there again after it broke, until the returned function is
   * called: what happened meanwhile was not heard.
   */
  onReconnect: (listener: () => void) => () => void;
  /**
   * Tells it within a moment, outside any transaction; call it after the commit. For changes that
   * come by the hundred: `publishChange` makes the transactions that announce commit one after the
   * other. What cannot be sent waits until the connection is back; what a killed process had not yet
   * sent is lost.
   */
  announce: (userId: string, event: ChangeEvent) => void;
};

const RECONNECT_MS = 1_000;
/** An announcement is a commit of its own: later than the first token of the answer that it tells of. */
const ANNOUNCE_MS = 100;

/**
 * Listens on a connection of its own and reconnects by itself when it breaks. What happened while
 * it was broken is not repeated: clients read afresh whenever their own stream (re)connects.
 */
export async function openEvents(url: string, log: Logger): Promise<Events & { close: () => Promise<void> }> {
  const listeners = new Map<string, Set<(event: ChangeEvent) => void>>();
  /** Messages that wait for the next announcement; a set, since what changed twice is told once. */
  const waiting = new Set<string>();
  const reconnectListeners = new Set<() => void>();
  let client: pg.Client | null = null;
  let closed = false;

  const deliver = (payload: string | undefined) => {
    const parsed = message.safeParse(JSON.parse(payload ?? 'null'));
    if (!parsed.success) return;
    const { user_id, event } = parsed.data;
    const hearers = user_id === null ? [...listeners.values()] : [listeners.get(user_id) ?? []];
    // A listener may leave while it listens.
    for (const own of hearers) for (const listener of [...own]) listener(event);
  };

  const announceWaiting = () => {
    if (!client || waiting.size === 0) return;
    const payloads = [...waiting];
    waiting.clear();
    client
      .query('select pg_notify($1, payload) from unnest($2::text[]) payload', [CHANNEL, payloads])
      .catch((error: unknown) => {
        for (const payload of payloads) waiting.add(payload);
        log.warn({ err: error }, 'could not announce changes');
      });
  };

  const connect = async () => {
    const next = await openListener({
      url,
      name: 'bakehouse events',
      channel: CHANNEL,
      onMessage: deliver,
      onError: (error) => log.warn({ err: error }, 'the event connection broke'),
    });
    next.once('end', reconnect);
    client = next;
    announceWaiting();
  };

  const reconnect = () => {
    client = null;
    if (closed) return;
    setTimeout(() => {
      if (closed) return;
      connect().then(() => {
        for (const listener of [...reconnectListeners]) listener();
      }, reconnect);
    }, RECONNECT_MS).unref();
  };

  await connect();
  return {
    subscribe: (userId, listener) => {
      const own = listeners.get(userId) ?? new Set();
      listeners.set(userId, own.add(listener));
      return () => {
        own.delete(listener);
        if (own.size === 0 && listeners.get(userId) === own) listeners.delete(userId);
      };
    },
    onReconnect: (listener) => {
      reconnectListeners.add(listener);
      return () => reconnectListeners.delete(listener);
    },
    announce: (userId, event) => {
      if (waiting.size === 0) setTimeout(announceWaiting, ANNOUNCE_MS);
      waiting.add(toPayload(userId, event));
    },
    close: async () => {
      closed = true;
      await client?.end();
    },
  };
}
