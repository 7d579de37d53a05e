import { getCredentials } from './api/credentials.ts';
import { createStore } from './store.ts';

/** Number of times stored values were cleared. Components use it to reset. */
export const tabClearCount = createStore(0);

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
    set: (userId: string | null, name: string, value: unknown): boolean => {
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
    clear: (exceptUserId?: string): void => {
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

const tabStorage = userStorage('bakehouse.tab.', () => sessionStorage);

/** Returns the user's value from this tab, or null. */
export const readFromTab = tabStorage.read;

/**
 * Stores a value across reloads of this tab, per user or for any visitor, until sign-out or the tab closes.
 */
export const writeToTab = (userId: string | null, name: string, value: unknown): void =>
  void tabStorage.set(userId, name, value);

/** Per-user values for all tabs and visits, deleted on sign-out; null deletes a value. */
export const browserStorage = userStorage('bakehouse.user.', () => localStorage);

/** Deletes the values of all users from this tab. */
export function clearTabStorage(): void {
  tabStorage.clear();
  tabClearCount.set(tabClearCount.get() + 1);
}
