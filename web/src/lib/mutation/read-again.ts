import type { QueryKey } from '@tanstack/react-query';
import { queryClient } from '../api/query-client.ts';

/**
 * Reads again what a write has changed, as far as it is shown. Nobody waits for it: the callbacks of a mutation are waited
 * for before it counts as done, and what was done is done whether or not it can be read.
 */
export function readAgain(...keys: readonly QueryKey[]): void {
  for (const queryKey of keys) void queryClient.invalidateQueries({ queryKey });
}
