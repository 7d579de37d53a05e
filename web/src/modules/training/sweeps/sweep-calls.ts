import { cancelSweep, getSweep, listSweeps, type Sweep } from '@bakehouse/contract/sweeps';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { useFallbackInterval } from '../../../lib/live/event-stream.ts';
import { endpointPages } from '../../../lib/live/paged-query.ts';
import { readAgain } from '../../../lib/mutation/read-again.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';

const POLL_MS = 3_000;

/** Read again whenever a run changes: it has several. */
const sweepQuery = (sweepId: string) =>
  endpointQuery(['run', 'sweep', sweepId], getSweep, { params: { sweepId } });

/** The caller's sweeps page by page, those with a name like this. Read again whenever a run changes. */
export const sweepsQuery = (search?: string) =>
  endpointPages(
    ['run', 'sweeps', search ?? ''],
    listSweeps,
    { query: { search } },
    { rows: 'sweeps', id: 'sweep_id' },
  );

export function useSweeps(search?: string) {
  return useInfiniteQuery({ ...sweepsQuery(search), refetchInterval: useFallbackInterval(POLL_MS) });
}

export function useSweep(sweepId: string) {
  return useQuery({ ...sweepQuery(sweepId), refetchInterval: useFallbackInterval(POLL_MS) });
}

export function useCancelSweep() {
  return useMutation({
    mutationFn: (sweepId: string) => call(cancelSweep, { params: { sweepId } }),
    onSuccess: (sweep: Sweep) => {
      queryClient.setQueryData(sweepQuery(sweep.sweep_id).queryKey, sweep);
      readAgain(['run']);
    },
  });
}
