import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { getWork } from '@bakehouse/contract/work';
import { useQuery } from '@tanstack/react-query';
import { endpointQuery } from '../api/endpoint-query.ts';
import { useFallbackInterval } from './event-stream.ts';

export type OwnWork = ResponseOf<typeof getWork>;

const POLL_MS = 3_000;

/** The user's work of every kind that is in progress or ended within the last hour. */
export const ownWorkQuery = endpointQuery(['own-work', 'list'], getWork);

/** Returns one kind of the user's work; undefined while loading. */
export function useOwnWork<Kind extends keyof OwnWork>(
  kind: Kind,
  { enabled = true } = {},
): OwnWork[Kind] | undefined {
  const refetchInterval = useFallbackInterval(POLL_MS);
  return useQuery({ ...ownWorkQuery, enabled, refetchInterval, select: (work) => work[kind] }).data;
}
