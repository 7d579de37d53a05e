import { QueryClient } from '@tanstack/react-query';
import { isIos } from '../device/is-ios.ts';
import { isOnline } from '../live/online.ts';
import { ApiError } from './api-error.ts';
import { CACHE_MS } from './asset-read-limits.ts';

const RETRIES = 3;
const NEVER_AGAIN = new Set<number | string>([401, 403, 404, 'lookup', 'no_key']);

/**
 * Returns true if a failed read should be retried: up to three times, unless the response wouldn't change.
 */
export function shouldRetry(failures: number, error: unknown, online: boolean = isOnline()): boolean {
  if (failures >= RETRIES || !online) return false;
  if (error instanceof ApiError)
    return (
      !NEVER_AGAIN.has(error.status) &&
      !NEVER_AGAIN.has(error.code) &&
      (error.status === 0 || error.status >= 500 || error.status === 429)
    );
  return false;
}

/** 1 s, 2 s, 4 s; on iOS up to 500 ms more, because iOS wakes all tabs simultaneously. */
export function retryDelayMs(failures: number, jitter: number = isIos() ? Math.random() * 500 : 0): number {
  return 1_000 * 2 ** failures + jitter;
}

/** After this, a page shows the data that has arrived. */
const FIRST_READS_MS_MAX = 3_000;

/**
 * Waits in a route's loader for the page's first reads, so that its cards appear together and do not shift. A
 * failed or slow read does not keep the page back.
 */
export async function waitForReads(read: () => Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([
    read().catch(() => undefined),
    new Promise((resolve) => {
      timer = setTimeout(resolve, FIRST_READS_MS_MAX);
    }),
  ]);
  clearTimeout(timer);
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Offline reads fail immediately with an error instead of pausing silently; cached data stays visible.
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 30_000,
      gcTime: CACHE_MS,
      retry: (failures, error) => shouldRetry(failures, error),
      retryDelay: (failures) => retryDelayMs(failures),
    },
    // Don't queue user actions until the network returns.
    mutations: { networkMode: 'always', retry: false },
  },
});

// Changes to these arrive through the event stream or the response to the user's own write.
for (const family of ['asset', 'transaction'])
  queryClient.setQueryDefaults([family], { staleTime: CACHE_MS });
