import type { Endpoint } from '@bakehouse/contract/endpoint';
import { type QueryKey, queryOptions } from '@tanstack/react-query';
import { type CallArguments, type CallOptions, call } from './api-client.ts';

type Options = {
  staleTime?: number;
  gcTime?: number;
  retry?: boolean;
  enabled?: boolean;
  /** Call options other than the signal. */
  call?: Omit<CallOptions, 'signal'>;
};

/**
 * Returns query options for an endpoint. Server events match queries by the first part of the key
 * (`lib/live/refresh-changed.ts`).
 */
export function endpointQuery<E extends Endpoint, const Key extends QueryKey>(
  queryKey: Key,
  endpoint: E,
  ...[input, { call: how, ...options } = {}]: [input?: CallArguments<E>[0], options?: Options]
) {
  return queryOptions({
    ...options,
    queryKey,
    queryFn: ({ signal }) => call(endpoint, ...([input ?? {}, { ...how, signal }] as CallArguments<E>)),
  });
}
