import { matchQuery, type QueryKey } from '@tanstack/react-query';
import { queryClient } from '../api/query-client.ts';
import { refresh } from '../live/refresh-changed.ts';

/**
 * Refetches mounted queries that a write has changed. Doesn't wait: mutations await their callbacks before
 * completing, and the write has succeeded whether or not the refetch does.
 */
export function refetchQueries(...keys: readonly QueryKey[]): void {
  for (const queryKey of keys) void queryClient.invalidateQueries({ queryKey });
}

/** Like `refetchQueries`, for a write to these rows only: refetches only the affected parts of long lists. */
export function refetchRows(queryKey: QueryKey, ids: readonly string[]): void {
  void refresh((query) => matchQuery({ queryKey }, query), new Set(ids));
}
