import type { InputOf } from '@bakehouse/contract/endpoint';
import {
  deleteTracker,
  downloadEvents,
  listTrackedRuns,
  listTrackers,
  saveTracker,
  type TrackerService,
} from '@bakehouse/contract/trackers';
import { useQuery } from '@tanstack/react-query';
import { call, callRaw } from '../../lib/api/api-client.ts';
import { saveAs } from '../../lib/api/download.ts';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { refetchQueries } from '../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';

/** The server logs runs once a minute. */
const POLL_MS = 30_000;

export const trackersQuery = endpointQuery(['tracker'], listTrackers);

type Connection = InputOf<typeof saveTracker>['body'];

/** Connects or edits a tracker; the dialog shows rejections. */
export function useSaveTracker(service: TrackerService) {
  return useMutation({
    mutationFn: (body: Connection) => call(saveTracker, { params: { service }, body }),
    onSuccess: () => refetchQueries(trackersQuery.queryKey),
    meta: { inPlace: true },
  });
}

export function useDeleteTracker(service: TrackerService) {
  return useMutation({
    mutationFn: () => call(deleteTracker, { params: { service } }),
    onSuccess: () => refetchQueries(trackersQuery.queryKey),
  });
}

/** Returns the trackers that log a run. */
export function useRunTrackers(runId: string) {
  return useQuery({
    ...endpointQuery(['tracker', 'run', runId], listTrackedRuns, { params: { runId } }),
    refetchInterval: POLL_MS,
  });
}

/** Downloads the metrics of a run for TensorBoard. */
export function useDownloadEvents(runId: string) {
  return useMutation({
    mutationFn: async () => {
      const answer = await callRaw(downloadEvents, { params: { runId } });
      saveAs(await answer.blob(), `events.out.tfevents.${runId}`);
    },
    meta: { title: 'The TensorBoard file could not be downloaded' },
  });
}
