import { getCredentials } from './api/credentials.ts';
import { createStore } from './store.ts';

/** How often what is kept was removed: what is still in sight of it begins anew. */
export const timesForgotten = createStore(0);

/** Values of the users in a storage of the browser, which may be blocked or full: then they last as long as the page. */
function userStorage(prefix: string, storage: () => Storage) {
  /** Without a user it is of whoever sits before the tab, signed in or not. */
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
    /** False where the storage is blocked or full, and keeps what it had. */
    keep: (userId: string | null, name: string, value: unknown): boolean => {
      // Who has signed out meanwhile leaves nothing behind.
      if (userId !== null && getCredentials()?.userId !== userId) return true;
      try {
        if (value === null) storage().removeItem(keyOf(userId, name));
        else storage().setItem(keyOf(userId, name), JSON.stringify(value));
        return true;
      } catch {
        return false;
      }
    },
    /** Removes what is kept of everybody, or of everybody else. */
    forget: (exceptUserId?: string): void => {
      try {
        const all = storage();
        const keys = Array.from({ length: all.length }, (_, index) => all.key(index));
        for (const key of keys) {
          const isOthers = exceptUserId === undefined || !key?.startsWith(keyOf(exceptUserId, ''));
          if (key?.startsWith(prefix) && isOthers) all.removeItem(key);
        }
      } catch {
        // Blocked: nothing is kept.
      }
    },
  };
}

const tab = userStorage('bakehouse.tab.', () => sessionStorage);

/** What `keepInTab` has kept of the user in this tab; null where that is nothing. */
export const readFromTab = tab.read;

/** Keeps something over reloads of this tab, of the user or of anybody, until somebody signs out or the tab is closed. */
export const keepInTab = (userId: string | null, name: string, value: unknown): void =>
  void tab.keep(userId, name, value);

/** What this browser keeps of a user, in all tabs and over visits, until somebody signs out; null is nothing. */
export const browserStorage = userStorage('bakehouse.user.', () => localStorage);

/** Removes what is kept in this tab, of everybody. */
export function forgetTab(): void {
  tab.forget();
  timesForgotten.set(timesForgotten.get() + 1);
}
