import type { Endpoint } from '@bakehouse/contract/endpoint';
import { type QueryKey, queryOptions } from '@tanstack/react-query';
import { type CallArguments, type CallOptions, call } from './api-client.ts';

type Options = {
  staleTime?: number;
  gcTime?: number;
  retry?: boolean;
  enabled?: boolean;
  /** How it is called, beside the signal. */
  call?: Omit<CallOptions, 'signal'>;
};

/** What an endpoint answers, as a query; events find it by the first part of its key (`lib/live/refresh-changed.ts`). */
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
