import type { QueryKey } from '@tanstack/react-query';
import { queryClient } from '../api/query-client.ts';
import { isAffected, refresh } from '../live/refresh-changed.ts';

/**
 * Refetches mounted queries that a write has changed. Doesn't wait: mutations await their callbacks before
 * completing, and the write has succeeded whether or not the refetch does.
 */
export function refetchQueries(...keys: readonly QueryKey[]): void {
  void queryClient.invalidateQueries({
    predicate: (query) => keys.some((key) => isAffected(query, key)),
  });
}

/** Like `refetchQueries`, for a write to these rows only: refetches only the affected parts of long lists. */
export function refetchRows(written: QueryKey, ids: readonly string[]): void {
  void refresh((query) => isAffected(query, written), new Set(ids));
}
