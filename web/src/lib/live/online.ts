import { useSyncExternalStore } from 'react';

const CHECK_MS = 30_000;
const TIMEOUT_MS = 5_000;
/** While the server is away it is asked more often, so that everything comes back soon after it does. */
const AWAY_CHECK_MS = { first: 1_000, last: 15_000 };

let online = globalThis.navigator?.onLine ?? true;
let answeredAt = Date.now();
let failures = 0;
let asking: Promise<void> | null = null;
let watched = false;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** Whether the server answers, as far as is known. */
export function isOnline(): boolean {
  return online;
}

/** The same as a hook. */
export function useOnline(): boolean {
  return useSyncExternalStore(subscribe, isOnline);
}

/**
 * For `refetchInterval` of what moves without anybody announcing it, such as costs, logs and metrics: `ms`, but false while
 * the server is away. Out of sight the query itself rests.
 */
export function useOnlineInterval(ms: number): number | false {
  return useOnline() && ms;
}

/** When the server last answered anything: until then what is shown was kept up to date. */
export function lastAnswer(): Date {
  return new Date(answeredAt);
}

/** Calls `listener` each time that the server is back, until the returned function is called. */
export function onReconnect(listener: () => void): () => void {
  let before = online;
  return subscribe(() => {
    const isBack = online && !before;
    before = online;
    if (isBack) listener();
  });
}

/**
 * Something was answered with this status. A proxy's word that there is nobody behind it is no answer, and neither is
 * 'unavailable' of a server that ends: all would be read again, in vain, at each of them.
 */
export function noteAnswer(status: number): void {
  if (status >= 502 && status <= 504) return void checkServer();
  answeredAt = Date.now();
  setOnline(true);
}

/** Asks whether the server is there. Call it where a request was not answered: one alone proves nothing. */
export function checkServer(): Promise<void> {
  asking ??= ask().finally(() => {
    asking = null;
    plan();
  });
  return asking;
}

/**
 * Watches the server until the returned function is called: the browser's own signal, a small request
 * every 30 s, and more often while it is away. `onChange` hears each change.
 */
export function watchServer(onChange: (online: boolean) => void): () => void {
  const unsubscribe = subscribe(() => onChange(online));
  const goneOffline = () => setOnline(false);
  const maybeBack = () => void checkServer();
  addEventListener('offline', goneOffline);
  addEventListener('online', maybeBack);
  watched = true;
  // It may have happened before anybody looked.
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

async function ask(): Promise<void> {
  try {
    const response = await fetch('/favicon.svg', {
      method: 'HEAD',
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status >= 500) throw new Error('A proxy answered in its place');
    failures = 0;
    answeredAt = Date.now();
    setOnline(true);
  } catch {
    failures += 1;
    setOnline(false);
  }
}

/** When to ask next. */
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
