import {
  type Clone,
  cancelClone,
  cloneLogs,
  cloneStatus,
  listClones,
  retryClone,
  startClone,
} from '@bakehouse/contract/hub/clones';
import { call } from '../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { endpointPages } from '../../../lib/live/paged-query.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { expectEnd } from '../../../ui/long-work.ts';
import { useUser } from '../../accounts/session.ts';
import { workId } from './clone-sentences.ts';

const LISTS = ['clone', 'list'];
/** The server queries the hub first. */
const START_TIMEOUT_MS = 40_000;

export const cloneListQuery = (userId: string) =>
  endpointPages(
    [...LISTS, userId],
    listClones,
    { params: { userId } },
    { rows: 'clones', id: 'id', newestFirst: true },
  );

/** A clone with the end of its log. */
export const cloneQuery = (id: string) =>
  endpointQuery(['clone', 'one', id], cloneStatus, { params: { id } });

export const cloneLogsQuery = (id: string) =>
  endpointQuery(['clone', 'logs', id], cloneLogs, { params: { id } });

/** Starts a clone; `noun` is used in the failure toast. */
export function useStartClone(noun: 'dataset' | 'model') {
  const userId = useUser().id;
  return useMutation({
    mutationFn: ({ repoId, datasetType }: { repoId: string; datasetType: Clone['dataset_type'] }) =>
      call(
        startClone,
        { query: { repo_id: repoId, dataset_type: datasetType, user_id: userId } },
        { timeoutMs: START_TIMEOUT_MS },
      ),
    onSuccess: follow,
    meta: { title: `Error cloning the ${noun}` },
  });
}

export function useCancelClone() {
  return useMutation({
    mutationFn: (id: string) => call(cancelClone, { params: { id } }),
    onSuccess: () => refetchQueries(['clone']),
  });
}

export function useRetryClone() {
  return useMutation({ mutationFn: (id: string) => call(retryClone, { params: { id } }), onSuccess: follow });
}

/** Announces its end on any page. */
function follow(clone: Clone): void {
  expectEnd(workId(clone.id));
  void queryClient.invalidateQueries({ queryKey: cloneQuery(clone.id).queryKey });
  refetchQueries(LISTS);
}
