import type { ChangeEvent } from '@bakehouse/contract/events';
import type { Logger } from 'pino';
import { keepListening } from '../db/keep-listening.ts';
import { CHANNEL, message } from './publish-change.ts';

type Listener = (event: ChangeEvent, at: Date) => void;

/** Tells listeners of any server process what changed for a user, and passes signals between processes. */
export type Events = {
  /**
   * Calls `listener` for every event of the user, with the time of its announcement, until the returned function is
   * called.
   */
  subscribe: (userId: string, listener: Listener) => () => void;
  /** Calls `listener` for every signal of this name until the returned function is called. */
  onSignal: (name: string, listener: () => void) => () => void;
  /**
   * Calls `listener` whenever the connection is open again after a break, until the returned function is called:
   * events in between were missed.
   */
  onReconnect: (listener: () => void) => () => void;
};

/**
 * Listens on a dedicated connection, and reconnects when it breaks. Events in between are not repeated here: streams
 * end then, and continue from what is stored (`stream-changes.ts`).
 */
export async function openEvents(url: string, log: Logger): Promise<Events & { close: () => Promise<void> }> {
  const listeners = new Map<string, Set<Listener>>();
  const signalListeners = new Map<string, Set<() => void>>();
  const reconnectListeners = new Set<() => void>();

  const deliver = (payload: string | undefined) => {
    const parsed = message.safeParse(JSON.parse(payload ?? 'null'));
    if (!parsed.success) return;
    // A listener may unsubscribe while it is called.
    if ('signal' in parsed.data) {
      for (const listener of [...(signalListeners.get(parsed.data.signal) ?? [])]) listener();
      return;
    }
    const { user_id, event, at } = parsed.data;
    const subscribed = user_id === null ? [...listeners.values()] : [listeners.get(user_id) ?? []];
    for (const own of subscribed) for (const listener of [...own]) listener(event, new Date(at));
  };

  const listening = await keepListening({
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

/** Adds a listener under a key. The returned function removes it, and the key with its last one. */
function addTo<Listening>(all: Map<string, Set<Listening>>, key: string, listener: Listening): () => void {
  const own = all.get(key) ?? new Set();
  all.set(key, own.add(listener));
  return () => {
    own.delete(listener);
    if (own.size === 0 && all.get(key) === own) all.delete(key);
  };
}
