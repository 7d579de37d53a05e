import { isIos } from '../device/is-ios.ts';

/**
 * How long datasets, models and transactions stay fresh unless a change is announced, and how long queries
 * stay cached.
 */
export const CACHE_MS = 5 * 60_000;

type Limits = { timeoutMs: number; redirect: RequestRedirect };

/**
 * Limits for reads of datasets, models and transactions. Our server sends no redirects, so don't follow any.
 */
export function assetReadLimits(ios: boolean = isIos()): Limits {
  return { timeoutMs: ios ? 45_000 : 30_000, redirect: 'error' };
}
