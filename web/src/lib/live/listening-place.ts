const LOCK = 'bakehouse-listens-in-background';

/** Whether this page may keep a connection open to hear of changes. */
export type ListeningPlace = {
  may: () => boolean;
  /** Calls `listener` at each change, until the returned function is called. */
  onChange: (listener: () => void) => () => void;
};

/**
 * A page in sight may listen, and of those out of sight one, whichever was left first: it says in its title what has ended. Not
 * all of them: a browser has six connections to a server for all of its tabs. Nor a page that is kept for 'Back'. Where a
 * browser has no locks, as without HTTPS, none out of sight may.
 */
export function listeningPlace(signal: AbortSignal): ListeningPlace {
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

/** Holds the lock until the signal ends it, and says when that begins; and before, if another page holds it now. */
async function holdLock(signal: AbortSignal, set: (isHeld: boolean) => void): Promise<void> {
  const hold = () => {
    if (signal.aborted) return;
    set(true);
    return new Promise<void>((release) => signal.addEventListener('abort', () => release()));
  };
  const locks = globalThis.navigator.locks as LockManager | undefined;
  // A browser that refuses all of them, as by a setting, has none.
  await locks
    ?.request(LOCK, { ifAvailable: true }, (lock) => (lock ? hold() : undefined))
    .catch(() => undefined);
  if (signal.aborted) return;
  set(false);
  // It is refused with what ends the signal.
  await locks?.request(LOCK, { signal }, hold).catch(() => undefined);
}
