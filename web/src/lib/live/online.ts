import { useSyncExternalStore } from 'react';

const CHECK_MS = 30_000;
const TIMEOUT_MS = 5_000;
/** Check more often while the server is unreachable, to recover soon after it returns. */
const AWAY_CHECK_MS = { first: 1_000, last: 15_000 };

let online = globalThis.navigator?.onLine ?? true;
let answeredAt = Date.now();
let failures = 0;
let asking: Promise<void> | null = null;
let watched = false;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** Returns true if the server is reachable, as far as known. */
export function isOnline(): boolean {
  return online;
}

/** `isOnline` as a hook. */
export function useOnline(): boolean {
  return useSyncExternalStore(subscribe, isOnline);
}

/**
 * A `refetchInterval` for data without change events, such as costs, logs and metrics: `ms`, or false while
 * the server is unreachable. Queries pause themselves while hidden.
 */
export function useOnlineInterval(ms: number): number | false {
  return useOnline() && ms;
}

/** Returns when the server last responded; the data shown is up to date as of then. */
export function lastAnswer(): Date {
  return new Date(answeredAt);
}

/** Calls `listener` whenever the server becomes reachable again. Returns a function that unsubscribes. */
export function onReconnect(listener: () => void): () => void {
  let before = online;
  return subscribe(() => {
    const isBack = online && !before;
    before = online;
    if (isBack) listener();
  });
}

/**
 * Records a response status. Statuses 502 to 504 only trigger a check: a proxy without a backend or a stopping
 * server sends them, and counting them as online would refetch everything in vain.
 */
export function recordServerStatus(status: number): void {
  if (status >= 502 && status <= 504) return void checkServer();
  answeredAt = Date.now();
  setOnline(true);
}

/**
 * Checks whether the server is reachable. Call it after a request without response, which alone proves
 * nothing.
 */
export function checkServer(): Promise<void> {
  asking ??= requestFavicon().finally(() => {
    asking = null;
    plan();
  });
  return asking;
}

/**
 * Monitors the server until the returned function is called: listens to the browser's events and polls every
 * 30 s, more often while unreachable. Calls `onChange` on every change.
 */
export function watchServer(onChange: (online: boolean) => void): () => void {
  const unsubscribe = subscribe(() => onChange(online));
  const goneOffline = () => setOnline(false);
  const maybeBack = () => void checkServer();
  addEventListener('offline', goneOffline);
  addEventListener('online', maybeBack);
  watched = true;
  // The browser may have gone offline before this call.
  if (!navigator.onLine) goneOffline();
  plan();
  return () => {
    watched = false;
    clearTimeout(timer);
    removeEventListener('offline', goneOffline);
    removeEventListener('online', maybeBack);
    unsubscribe();
  };
}

async function requestFavicon(): Promise<void> {
  try {
    const response = await fetch('/favicon.svg', {
      method: 'HEAD',
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status >= 500) throw new Error('A proxy answered instead of the server');
    failures = 0;
    answeredAt = Date.now();
    setOnline(true);
  } catch {
    failures += 1;
    setOnline(false);
  }
}

/** Schedules the next check. */
function plan(): void {
  if (!watched) return;
  clearTimeout(timer);
  const away = Math.min(AWAY_CHECK_MS.first * 2 ** Math.max(0, failures - 1), AWAY_CHECK_MS.last);
  timer = setTimeout(() => void checkServer(), online ? CHECK_MS : away);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function setOnline(value: boolean): void {
  if (online === value) return;
  online = value;
  plan();
  for (const listener of listeners) listener();
}
