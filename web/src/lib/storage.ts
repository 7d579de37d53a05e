import { useSyncExternalStore } from 'react';
import { getCredentials } from './api/credentials.ts';
import { createStore } from './store.ts';

/** Number of times stored values were cleared. Components use it to reset. */
export const tabClearCount = createStore(0);

const tabStorage = userStorage('bakehouse.tab.', () => sessionStorage);

/** Returns the user's value from this tab, or null. */
export const readFromTab = tabStorage.read;

/**
 * Stores a value across reloads of this tab, per user or for any visitor, until sign-out or the tab closes.
 */
export const writeToTab = (userId: string | null, name: string, value: unknown): void =>
  void tabStorage.keep(userId, name, value);

/** Per-user values for all tabs and visits, deleted on sign-out; null deletes a value. */
export const browserStorage = userStorage('bakehouse.user.', () => localStorage);

/** An enumerated setting, stored in this browser and synced between its tabs. */
type StoredChoice<Choice extends string> = {
  get: () => Choice;
  set: (choice: Choice) => void;
  use: () => Choice;
};

/** `key` is the localStorage key; unknown stored values fall back to `fallback`. */
export function storedChoice<const Choice extends string>(
  key: string,
  choices: readonly Choice[],
  fallback: Choice,
  onChange: (choice: Choice) => void = () => undefined,
): StoredChoice<Choice> {
  const listeners = new Set<() => void>();
  let current = readStored();

  function readStored(): Choice {
    try {
      const stored = localStorage.getItem(key);
      return choices.find((choice) => choice === stored) ?? fallback;
    } catch {
      return fallback;
    }
  }

  function apply(choice: Choice): void {
    current = choice;
    onChange(choice);
    for (const listener of listeners) listener();
  }

  globalThis.addEventListener?.('storage', (event) => {
    if (event.key === key) apply(readStored());
  });

  const get = () => current;
  return {
    get,
    set(choice) {
      try {
        localStorage.setItem(key, choice);
      } catch {
        // Storage is blocked: the choice lasts until the tab closes.
      }
      apply(choice);
    },
    use: () =>
      useSyncExternalStore((listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      }, get),
  };
}

/** Per-user values in browser storage. Stores nothing if the storage is blocked or full. */
function userStorage(prefix: string, storage: () => Storage) {
  /** Without a user id, the value belongs to this tab's visitor, signed in or not. */
  const keyOf = (userId: string | null, name: string) => `${prefix}${userId ?? 'anybody'}.${name}`;
  return {
    keyOf,
    read: (userId: string | null, name: string): unknown => {
      try {
        return JSON.parse(storage().getItem(keyOf(userId, name)) ?? 'null');
      } catch {
        return null;
      }
    },
    /** Returns false if the storage is blocked or full; the previous value then stays. */
    keep: (userId: string | null, name: string, value: unknown): boolean => {
      // Don't store values for a user who has signed out since.
      if (userId !== null && getCredentials()?.userId !== userId) return true;
      try {
        if (value === null) storage().removeItem(keyOf(userId, name));
        else storage().setItem(keyOf(userId, name), JSON.stringify(value));
        return true;
      } catch {
        return false;
      }
    },
    /** Deletes the values of all users, or of all but one. */
    forget: (exceptUserId?: string): void => {
      try {
        const all = storage();
        const keys = Array.from({ length: all.length }, (_, index) => all.key(index));
        for (const key of keys) {
          const isOthers = exceptUserId === undefined || !key?.startsWith(keyOf(exceptUserId, ''));
          if (key?.startsWith(prefix) && isOthers) all.removeItem(key);
        }
      } catch {
        // Blocked: nothing is stored.
      }
    },
  };
}

/** Deletes the values of all users from this tab. */
export function clearTabStorage(): void {
  tabStorage.forget();
  tabClearCount.set(tabClearCount.get() + 1);
}

/**
 * Search parameters of a page with tabs: the tab, and either the file and its revision or the commit and its
 * open folder.
 */
export function parseTabAndFile({ tab, file, revision, commit, folder }: Record<string, unknown>): {
  tab?: string;
  file?: string;
  revision?: string | undefined;
  commit?: string | undefined;
  folder?: string | undefined;
} {
  return {
    ...(typeof tab === 'string' && { tab }),
    ...(typeof file === 'string' && { file }),
    ...(typeof revision === 'string' && { revision }),
    ...(typeof commit === 'string' && { commit }),
    ...(typeof folder === 'string' && { folder }),
  };
}
