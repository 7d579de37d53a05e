const DEBOUNCE_MS = 2_000;

/**
 * What tabs tell each other about the session. No message carries a key: whoever hears that it
 * changed reads the new one with its own cookie.
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

/** Tells this tab and all others. 'invalid-key' is sent at most once in two seconds. */
export function broadcastSession(message: SessionMessage): void {
  if (message.type === 'invalid-key') {
    const now = performance.now();
    if (now - lastInvalidKeyAt < DEBOUNCE_MS) return;
    lastInvalidKeyAt = now;
  }
  channel?.postMessage(message);
  notify(message);
}

/** Calls `listener` for every message, of this tab too, until the returned function is called. */
export function onSessionMessage(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notify(message: SessionMessage): void {
  for (const listener of listeners) listener(message);
}
