const LOCK = 'bakehouse-listens-in-background';

/** Whether this page may keep a connection open for changes. */
export type ListenerElection = {
  may: () => boolean;
  /** Calls `listener` on every change. Returns a function that unsubscribes. */
  onChange: (listener: () => void) => () => void;
};

/**
 * Visible pages may listen. Of the hidden pages, only the first one may: it shows finished work in its title.
 * More would exceed the six connections per server that a browser opens for all tabs. Pages in the
 * back-forward cache may not listen. Without the Web Locks API, as over plain http, no hidden page may.
 */
export function electListener(signal: AbortSignal): ListenerElection {
  const listeners = new Set<() => void>();
  let may = !document.hidden;
  let isKeptForBack = false;
  let outOfSight = new AbortController();
  const set = (value: boolean) => {
    if (may === value) return;
    may = value;
    for (const listener of listeners) listener();
  };
  const look = () => {
    outOfSight.abort();
    outOfSight = new AbortController();
    if (!document.hidden) set(true);
    else if (isKeptForBack) set(false);
    else void holdLock(outOfSight.signal, set);
  };
  const options = { signal };
  document.addEventListener('visibilitychange', look, options);
  for (const type of ['pagehide', 'pageshow'] as const)
    addEventListener(
      type,
      () => {
        isKeptForBack = type === 'pagehide';
        look();
      },
      options,
    );
  signal.addEventListener('abort', () => outOfSight.abort());
  if (document.hidden) look();
  return {
    may: () => may,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Holds the lock until the signal aborts, and reports when it is acquired or if another page holds it. */
async function holdLock(signal: AbortSignal, set: (isHeld: boolean) => void): Promise<void> {
  const hold = () => {
    if (signal.aborted) return;
    set(true);
    return new Promise<void>((release) => signal.addEventListener('abort', () => release()));
  };
  const locks = globalThis.navigator.locks as LockManager | undefined;
  // Some browsers reject every request, for example due to a setting.
  await locks
    ?.request(LOCK, { ifAvailable: true }, (lock) => (lock ? hold() : undefined))
    .catch(() => undefined);
  if (signal.aborted) return;
  set(false);
  // Rejects when the signal aborts.
  await locks?.request(LOCK, { signal }, hold).catch(() => undefined);
}
