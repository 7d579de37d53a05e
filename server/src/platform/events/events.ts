import type { ChangeEvent } from '@bakehouse/contract/events';
import type { Logger } from 'pino';
import { listenWithReconnect } from '../db/listen-with-reconnect.ts';
import { CHANNEL, message } from './publish-change.ts';

type Listener = (event: ChangeEvent, at: Date) => void;

/** Notifies listeners in all server processes about a user's changes, and sends signals between processes. */
export type Events = {
  /** Calls `listener` for the user's events, with their announcement time. Returns a function to stop. */
  subscribe: (userId: string, listener: Listener) => () => void;
  /** Calls `listener` for every signal of this name. Returns a function that unsubscribes. */
  onSignal: (name: string, listener: () => void) => () => void;
  /** Calls `listener` after each reconnect, because events were missed. Returns a function to stop. */
  onReconnect: (listener: () => void) => () => void;
};

/**
 * Listens on a dedicated connection, and reconnects when it breaks. Missed events are not repeated here.
 * Instead, streams end, and resume from the stored changes (`stream-changes.ts`).
 */
export async function openEvents(url: string, log: Logger): Promise<Events & { close: () => Promise<void> }> {
  const listeners = new Map<string, Set<Listener>>();
  const signalListeners = new Map<string, Set<() => void>>();
  const reconnectListeners = new Set<() => void>();

  const deliver = (payload: string | undefined) => {
    const parsed = message.safeParse(JSON.parse(payload ?? 'null'));
    if (!parsed.success) return;
    // Iterate over a copy, because a listener may unsubscribe while it is called.
    if ('signal' in parsed.data) {
      for (const listener of [...(signalListeners.get(parsed.data.signal) ?? [])]) listener();
      return;
    }
    const { user_id, event, at } = parsed.data;
    const subscribed = user_id === null ? [...listeners.values()] : [listeners.get(user_id) ?? []];
    for (const own of subscribed) for (const listener of [...own]) listener(event, new Date(at));
  };

  const listening = await listenWithReconnect({
    url,
    name: 'bakehouse events',
    channel: CHANNEL,
    onMessage: deliver,
    onReconnect: () => {
      for (const listener of [...reconnectListeners]) listener();
    },
    log,
  });
  return {
    subscribe: (userId, listener) => addTo(listeners, userId, listener),
    onSignal: (name, listener) => addTo(signalListeners, name, listener),
    onReconnect: (listener) => {
      reconnectListeners.add(listener);
      return () => reconnectListeners.delete(listener);
    },
    close: listening.close,
  };
}

/** Adds a listener under a key. The returned function removes it, and the key with its last listener. */
function addTo<Listening>(all: Map<string, Set<Listening>>, key: string, listener: Listening): () => void {
  const own = all.get(key) ?? new Set();
  all.set(key, own.add(listener));
  return () => {
    own.delete(listener);
    if (own.size === 0 && all.get(key) === own) all.delete(key);
  };
}
