const DEBOUNCE_MS = 2_000;

/**
 * Messages between tabs about the session. They never contain a key: receivers fetch it with their own
 * cookie.
 */
export type SessionMessage = {
  type: 'invalid-key' | 'key-changed' | 'signed-in' | 'signed-out';
  userId: string | null;
};

type Listener = (message: SessionMessage) => void;

const listeners = new Set<Listener>();
const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('bakehouse.session');
if (channel) channel.onmessage = (event: MessageEvent<SessionMessage>) => notify(event.data);

let lastInvalidKeyAt = Number.NEGATIVE_INFINITY;

/** Sends a message to all tabs, including this one. 'invalid-key' is sent at most once in two seconds. */
export function broadcastSession(message: SessionMessage): void {
  if (message.type === 'invalid-key') {
    const now = performance.now();
    if (now - lastInvalidKeyAt < DEBOUNCE_MS) return;
    lastInvalidKeyAt = now;
  }
  channel?.postMessage(message);
  notify(message);
}

/** Calls `listener` for every message, including this tab's own. Returns a function that unsubscribes. */
export function onSessionMessage(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notify(message: SessionMessage): void {
  for (const listener of listeners) listener(message);
}
