import { matchQuery, type QueryKey } from '@tanstack/react-query';
import { queryClient } from '../api/query-client.ts';
import { refresh } from '../live/refresh-changed.ts';

/**
 * Reads again what a write has changed, as far as it is shown. Nobody waits for it: the callbacks of a mutation are waited
 * for before it counts as done, and what was done is done whether or not it can be read.
 */
export function readAgain(...keys: readonly QueryKey[]): void {
  for (const queryKey of keys) void queryClient.invalidateQueries({ queryKey });
}

/** The same after a write to these rows alone: of a long list no more is read than is about them. */
export function readRowsAgain(queryKey: QueryKey, ids: readonly string[]): void {
  void refresh((query) => matchQuery({ queryKey }, query), new Set(ids));
}
