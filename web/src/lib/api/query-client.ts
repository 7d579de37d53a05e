import { QueryClient } from '@tanstack/react-query';
import { isIos } from '../device/is-ios.ts';
import { isOnline } from '../live/online.ts';
import { ApiError } from './api-error.ts';
import { CACHE_MS } from './stored-read.ts';

const RETRIES = 3;
const NEVER_AGAIN = new Set<number | string>([401, 403, 404, 'lookup', 'no_key']);

/** Whether a failed read is tried again: up to three times, never where the answer will not change. */
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

/** 1 s, 2 s, 4 s; on iOS up to half a second more, because it wakes all tabs at once. */
export function retryDelayMs(failures: number, jitter: number = isIos() ? Math.random() * 500 : 0): number {
  return 1_000 * 2 ** failures + jitter;
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Offline, a read fails at once and says so; what is cached stays in sight. Otherwise it would wait in silence.
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 30_000,
      gcTime: CACHE_MS,
      retry: (failures, error) => shouldRetry(failures, error),
      retryDelay: (failures) => retryDelayMs(failures),
    },
    // Nothing that a person asked for happens later, when the network comes back.
    mutations: { networkMode: 'always', retry: false },
  },
});

// What changes in them is heard of, by the event stream or by the answer to one's own write.
for (const family of ['asset', 'transaction'])
  queryClient.setQueryDefaults([family], { staleTime: CACHE_MS });
