import { getCredentials } from './api/credentials.ts';
import { createStore } from './store.ts';

/** Everything that is kept here begins with it. */
const PREFIX = 'bakehouse.tab.';

/** How often what is kept was removed: what is still in sight of it begins anew. */
export const timesForgotten = createStore(0);

/** Without a user it is of whoever sits before the tab, signed in or not. */
const keyOf = (userId: string | null, name: string) => `${PREFIX}${userId ?? 'anybody'}.${name}`;

/** What `keepInTab` has kept of the user in this tab; null where that is nothing. */
export function readFromTab(userId: string | null, name: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(userId, name)) ?? 'null');
  } catch {
    return null;
  }
}

/** Keeps something over reloads of this tab, of the user or of anybody, until somebody signs out or the tab is closed. */
export function keepInTab(userId: string | null, name: string, value: unknown): void {
  // Who has signed out meanwhile leaves nothing behind.
  if (userId !== null && getCredentials()?.userId !== userId) return;
  try {
    sessionStorage.setItem(keyOf(userId, name), JSON.stringify(value));
  } catch {
    // Storage is blocked or full: it lasts as long as the page.
  }
}

/** Removes what is kept in this tab, of everybody. */
export function forgetTab(): void {
  try {
    const keys = Array.from({ length: sessionStorage.length }, (_, index) => sessionStorage.key(index));
    for (const key of keys) if (key?.startsWith(PREFIX)) sessionStorage.removeItem(key);
  } catch {
    // Storage is blocked: nothing is kept.
  }
  timesForgotten.set(timesForgotten.get() + 1);
}
