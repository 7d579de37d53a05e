import { isIos } from '../device/is-ios.ts';

/** How long what was read of datasets, models and transactions is fresh, unless a change is heard of, and how long anything is kept. */
export const CACHE_MS = 5 * 60_000;

type Limits = { timeoutMs: number; redirect: RequestRedirect };

/**
 * The limits of reads of datasets, models and transactions. A browser follows redirects without
 * counting them, and our server sends none: so none is followed.
 */
export function storedRead(ios: boolean = isIos()): Limits {
  return { timeoutMs: ios ? 45_000 : 30_000, redirect: 'error' };
}
