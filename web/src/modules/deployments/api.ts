import { listDeployments } from '@bakehouse/contract/deployments/all';
import type { Deployment, DeploymentFilter } from '@bakehouse/contract/deployments/text';
import { queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { chargeText } from '../../lib/format/outcome-text.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { useOnlineInterval } from '../../lib/live/online.ts';
import { pagedQuery } from '../../lib/live/paged-query.ts';
import { readAgain } from '../../lib/mutation/read-again.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { notify } from '../../ui/notify.ts';
import { useUser } from '../accounts/api.ts';
import { deploymentKinds, type KindName, workId } from './kinds.ts';

export { DeployButton } from './deploy-button.tsx';

const POLL_MS = 5_000;
/** Costs, logs and metrics move with time, not with events: they are read again also while the event stream lives. */
const TICK_MS = 15_000;

/** What the list of deployments is narrowed to, and its order where that is not the newest first. */
type DeploymentSearch = {
  search?: string | undefined;
  status?: DeploymentFilter | undefined;
  sort?: 'title' | undefined;
};

/** The user's deployments of a kind page by page; ended ones too when asked for. */
export const deploymentListQuery = (
  kind: KindName,
  userId: string,
  includeTerminated = false,
  wanted: DeploymentSearch = {},
) =>
  pagedQuery({
    queryKey: ['deployment', 'list', kind, userId, { includeTerminated, ...wanted }],
    rows: 'pods',
    id: 'pod_id',
    newestFirst: !(wanted.search || wanted.status || wanted.sort),
    read: (cursor, signal) =>
      call(
        deploymentKinds[kind].calls.list,
        {
          params: { userId },
          query: {
            ...wanted,
            include_terminated: includeTerminated ? 'true' : 'false',
            cursor,
          },
        },
        { signal, operation: 'fetch deployments' },
      ),
  });

export function useDeployments(
  kind: KindName,
  userId: string,
  includeTerminated: boolean,
  wanted: DeploymentSearch = {},
  /** The page shows what they cost so far. */
  { showsCosts = false } = {},
) {
  const tick = useOnlineInterval(TICK_MS);
  return useInfiniteQuery({
    ...deploymentListQuery(kind, userId, includeTerminated, wanted),
    refetchInterval: useFallbackInterval(POLL_MS) || (showsCosts && tick),
  });
}

/** The user's newest deployments of every kind that have not ended, as many as a card shows. */
export const newestDeploymentsQuery = (userId: string) =>
  queryOptions({
    queryKey: ['deployment', 'list', 'all', userId],
    queryFn: ({ signal }) =>
      call(
        listDeployments,
        { params: { userId }, query: { limit: 5 } },
        { signal, operation: 'fetch deployments' },
      ),
  });

export function useNewestDeployments(userId: string) {
  return useQuery({ ...newestDeploymentsQuery(userId), refetchInterval: useFallbackInterval(POLL_MS) });
}

/** The user's deployments of one text model that have not been terminated. */
export function useDeploymentsOf(modelId: string | undefined) {
  const user = useUser();
  return useQuery({
    queryKey: ['deployment', 'list', 'text', user.id, { modelId }],
    queryFn: ({ signal }) =>
      call(
        deploymentKinds.text.calls.list,
        { params: { userId: user.id }, query: { model_id: modelId } },
        { signal, operation: 'fetch deployments' },
      ),
    enabled: modelId !== undefined,
    refetchInterval: useFallbackInterval(POLL_MS),
  });
}

/** The user's newest deployment of a text model that answers or is on its way; undefined where there is none. */
export function useLiveDeployment(modelId: string): Deployment | undefined {
  const { usable, pending } = deploymentKinds.text;
  return useDeploymentsOf(modelId).data?.pods.find(({ status }) => usable.has(status) || pending.has(status));
}

export function useDeploymentStats(kind: KindName, userId: string) {
  return useQuery({
    queryKey: ['deployment', 'stats', kind, userId],
    queryFn: ({ signal }) =>
      call(
        deploymentKinds[kind].calls.stats,
        { params: { userId } },
        { signal, operation: 'fetch deployments' },
      ),
    refetchInterval: useOnlineInterval(TICK_MS),
  });
}

/** Asks about a deployment; about an id that names nothing, as in an address made too early, nothing is sent. */
async function askPod<Answer>(podId: string, ask: () => Promise<Answer>): Promise<Answer> {
  if (podId === '' || podId === 'undefined')
    throw new ApiError('No deployment has this id', { status: 404, code: 'not_found' });
  return ask();
}

export function useDeployment(kind: KindName, podId: string) {
  const tick = useOnlineInterval(TICK_MS);
  return useQuery({
    queryKey: ['deployment', 'one', podId],
    queryFn: ({ signal }) =>
      askPod(podId, () =>
        call(
          deploymentKinds[kind].calls.status,
          { params: { podId } },
          { signal, operation: 'fetch deployments' },
        ),
      ),
    refetchInterval: useFallbackInterval(POLL_MS) || tick,
  });
}

export function useDeploymentLogs(kind: KindName, podId: string) {
  return useQuery({
    queryKey: ['deployment', 'logs', podId],
    queryFn: ({ signal }) =>
      askPod(podId, () =>
        call(deploymentKinds[kind].calls.logs, { params: { podId } }, { signal, operation: 'fetch the log' }),
      ),
    refetchInterval: useOnlineInterval(TICK_MS),
  });
}

export function useDeploymentMetrics(kind: KindName, podId: string) {
  return useQuery({
    queryKey: ['deployment', 'metrics', podId],
    queryFn: ({ signal }) =>
      askPod(podId, () =>
        call(
          deploymentKinds[kind].calls.metrics,
          { params: { podId }, query: { minutes: 60 } },
          { signal, operation: 'fetch the metrics' },
        ),
      ),
    refetchInterval: useOnlineInterval(TICK_MS),
  });
}

export function useTerminate(kind: KindName) {
  const user = useUser();
  return useMutation({
    mutationFn: (podId: string) =>
      call(
        deploymentKinds[kind].calls.terminate,
        { params: { podId }, query: { user_id: user.id } },
        { operation: 'terminate deployment', timeoutMs: 30_000 },
      ),
    onSuccess: ({ pod_id, title, cost_so_far }) => {
      // Where it had not answered yet, the list of long work tells its end too: in the same toast.
      notify.success(`${title} was terminated`, {
        id: workId(pod_id),
        description: chargeText(cost_so_far),
      });
      readAgain(['deployment']);
    },
    meta: { prefix: 'Termination failed: ' },
  });
}
