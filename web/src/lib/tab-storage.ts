import { getCredentials } from './api/credentials.ts';

/** Everything that is kept here begins with it. */
const PREFIX = 'bakehouse.tab.';

const keyOf = (userId: string, name: string) => `${PREFIX}${userId}.${name}`;

/** What `keepInTab` has kept of the user in this tab; null where that is nothing. */
export function readFromTab(userId: string, name: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(userId, name)) ?? 'null');
  } catch {
    return null;
  }
}

/** Keeps something of the user over reloads of this tab, until somebody signs out or the tab is closed. */
export function keepInTab(userId: string, name: string, value: unknown): void {
  // Who has signed out meanwhile leaves nothing behind.
  if (getCredentials()?.userId !== userId) return;
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
}
