import { useSyncExternalStore } from 'react';

const CHECK_MS = 30_000;
const TIMEOUT_MS = 5_000;

let online = globalThis.navigator?.onLine ?? true;
const listeners = new Set<() => void>();

/** Whether the server answers: the browser's own signal, and a small request every 30 s. */
export function useOnline(): boolean {
  return useSyncExternalStore(subscribe, () => online);
}

let stop: (() => void) | null = null;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  stop ??= watch();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      stop?.();
      stop = null;
    }
  };
}

function watch(): () => void {
  const timer = setInterval(() => void check(), CHECK_MS);
  const goneOffline = () => setOnline(false);
  const maybeBack = () => void check();
  addEventListener('offline', goneOffline);
  addEventListener('online', maybeBack);
  // It may have happened before anybody looked.
  if (!navigator.onLine) goneOffline();
  return () => {
    clearInterval(timer);
    removeEventListener('offline', goneOffline);
    removeEventListener('online', maybeBack);
  };
}

async function check(): Promise<void> {
  try {
    await fetch('/favicon.svg', {
      method: 'HEAD',
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    setOnline(true);
  } catch {
    setOnline(false);
  }
}

function setOnline(value: boolean): void {
  if (online === value) return;
  online = value;
  for (const listener of listeners) listener();
}
