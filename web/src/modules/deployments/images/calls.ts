import {
  getImageDeployment,
  type ImageDeployment,
  type ImageDeploymentKind,
  listFluxKontext,
  listImageDeployments,
} from '@bakehouse/contract/deployments/images';
import { acceptLicence, type Licence } from '@bakehouse/contract/licences';
import type { InstanceType } from '@bakehouse/contract/limits';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { isPriceChange } from '../../../lib/api/is-price-change.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { readAllPages } from '../../../lib/api/read-all-pages.ts';
import { chargeText } from '../../../lib/format/outcome-text.ts';
import { useFallbackInterval } from '../../../lib/live/event-stream.ts';
import { useOnlineInterval } from '../../../lib/live/online.ts';
import { pagedQuery } from '../../../lib/live/paged-query.ts';
import { readAgain } from '../../../lib/mutation/read-again.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { awaitEnd } from '../../../ui/long-work.ts';
import { notify } from '../../../ui/notify.ts';
import { useUser } from '../../accounts/api.ts';
import { deploymentKinds, workId } from '../kinds.ts';
import type { DeploymentsSearch } from '../list/deployments-search.ts';
import { awaitedOf, imageKinds } from './kinds.ts';

/** What it costs moves with time, not with events. */
const COST_MS = 60_000;

const listed = { operation: 'fetch deployments' };

/**
 * The user's deployments of every kind page by page, newest first. Without `ended` those that have not ended, and those
 * that have lately, though nobody terminated them.
 */
export const imageDeploymentListQuery = (
  userId: string,
  { search, status, sort, ended = false }: DeploymentsSearch = {},
) =>
  pagedQuery({
    queryKey: ['deployment', 'list', 'image', userId, { search, status, sort, ended }],
    rows: 'deployments',
    id: 'pod_id',
    newestFirst: !(search || status || sort),
    read: (cursor, signal) => {
      const query = {
        ...{ search, status, sort, include_terminated: ended ? 'true' : 'false' },
        cursor,
      };
      return call(listImageDeployments, { params: { userId }, query }, { signal, ...listed });
    },
  });

/** The same, kept up to date, with what they cost so far. */
export function useImageDeployments(search: DeploymentsSearch = {}) {
  const userId = useUser().id;
  const pollMs = usePollMs();
  const costs = useOnlineInterval(COST_MS);
  return useInfiniteQuery({
    ...imageDeploymentListQuery(userId, search),
    refetchInterval: ({ state: { data } }) => {
      const all = data?.pages.flatMap((page) => page.deployments) ?? [];
      return pollMs(all) || (all.some(({ status }) => status === 'running') && costs);
    },
  });
}

/** How soon some deployments are read again while the event stream is down and one of them is on its way. */
export function usePollMs(): (deployments: readonly ImageDeployment[]) => number | false {
  const fallback = {
    'flux-kontext': useFallbackInterval(imageKinds['flux-kontext'].pollMs),
    flux: useFallbackInterval(imageKinds.flux.pollMs),
    paris: useFallbackInterval(imageKinds.paris.pollMs),
  };
  return (deployments) => {
    const awaited = awaitedOf(deployments, Date.now());
    const [soonest] = awaited.toSorted((a, b) => imageKinds[a.kind].pollMs - imageKinds[b.kind].pollMs);
    return soonest ? fallback[soonest.kind] : false;
  };
}

/**
 * The Kontext deployment that edits this user's pictures: the newest that answers, else one that will; null where there
 * is none, undefined while nobody is named, or it is not known.
 */
export function useActiveKontextDeployment(userId: string | undefined): ImageDeployment | null | undefined {
  const pollMs = usePollMs();
  const { data } = useQuery({
    queryKey: ['deployment', 'list', 'flux-kontext', userId, 'active'],
    queryFn: async ({ signal }) => {
      if (userId === undefined) throw new Error('nobody is named');
      const first = async (query: { only_running?: string; status?: 'running' }) => {
        const input = { params: { userId }, query: { ...query, limit: 1 } };
        const { deployments } = await call(listFluxKontext, input, { signal, ...listed });
        return deployments[0];
      };
      return (await first({ only_running: 'true' })) ?? (await first({ status: 'running' })) ?? null;
    },
    enabled: userId !== undefined,
    refetchInterval: ({ state }) => pollMs(state.data ? [state.data] : []),
  });
  return data;
}

/** This user's deployments of a kind that can be used at once; none while nobody is named, or they are not known. */
export function useUsableDeployments(
  kind: ImageDeploymentKind,
  userId: string | undefined,
): ImageDeployment[] {
  const { data } = useQuery({
    queryKey: ['deployment', 'list', kind, userId, 'usable'],
    queryFn: async ({ signal }) => {
      if (userId === undefined) throw new Error('nobody is named');
      const { list } = imageKinds[kind].calls;
      const params = { userId };
      const pages = await readAllPages((cursor) =>
        call(list, { params, query: { only_running: 'true', cursor } }, { signal, ...listed }),
      );
      return pages.flatMap(({ deployments }) => deployments);
    },
    enabled: userId !== undefined,
  });
  return data ?? [];
}

export function useImageDeployment(podId: string) {
  const fallback = useFallbackInterval(imageKinds.flux.pollMs);
  const costs = useOnlineInterval(COST_MS);
  return useQuery({
    // Its id is the third, by which changes are distinguished; a text deployment is read under the same three.
    queryKey: ['deployment', 'one', podId, 'image'],
    queryFn: ({ signal }) =>
      call(getImageDeployment, { params: { podId } }, { signal, operation: 'fetch deployments' }),
    refetchInterval: ({ state: { data } }) => {
      if (data?.status === 'running') return costs;
      return data && awaitedOf([data], Date.now()).length > 0 ? fallback : false;
    },
  });
}

/** What is asked for in the dialog. */
export type ImageDeploymentWish = { kind: ImageDeploymentKind; modelId: string; instanceType: InstanceType };

const bodyOf = ({ modelId, instanceType }: ImageDeploymentWish, userId: string) => ({
  model_id: modelId,
  instance_type: instanceType,
  user_id: userId,
});

/** Where the model would run, what that costs, and which licence it needs. */
export function useImageQuote(wish: ImageDeploymentWish | null) {
  const user = useUser();
  return useQuery({
    queryKey: ['deployment', 'quote', wish, user.id],
    queryFn: ({ signal }) => {
      if (!wish) throw new Error('nothing is asked for');
      return call(
        imageKinds[wish.kind].calls.quote,
        { body: bodyOf(wish, user.id) },
        { signal, operation: 'fetch the price' },
      );
    },
    enabled: wish !== null,
    retry: false,
    placeholderData: (previous) => (wish === null ? undefined : keepPreviousData(previous)),
  });
}

type Deploy = {
  wish: ImageDeploymentWish;
  licence: Licence | null;
  /** The price of an hour that was shown, which it may cost at most. */
  price: string | undefined;
};

/** Accepts the licence, where one is given, and deploys. */
export function useDeployImage() {
  const user = useUser();
  const keys = useIdempotencyKeys('image-deployment');
  return useMutation({
    mutationFn: async ({ wish, licence, price }: Deploy) => {
      if (licence) {
        const { licence: name, version } = licence;
        await call(
          acceptLicence,
          { body: { user_id: user.id, licence: name, version } },
          { operation: 'accept the licence' },
        );
      }
      return call(
        imageKinds[wish.kind].calls.deploy,
        { body: { ...bodyOf(wish, user.id), cost_max: price } },
        { operation: 'deploy model', idempotencyKey: keys.keyFor(wish) },
      );
    },
    onSuccess: ({ pod_id }, { wish }) => {
      keys.renew(wish);
      notify.success(deploymentKinds.text.words.initiated);
      awaitEnd(workId(pod_id));
      readAgain(['deployment']);
    },
    // What it costs now is shown before it is asked for once more.
    onError: () => queryClient.invalidateQueries({ queryKey: ['deployment'] }),
    meta: { product: 'Deployment', inPlace: isPriceChange },
  });
}

export function useTerminateImage() {
  const user = useUser();
  return useMutation({
    mutationFn: ({ kind, pod_id }: Pick<ImageDeployment, 'kind' | 'pod_id'>) =>
      call(
        imageKinds[kind].calls.terminate,
        { params: { podId: pod_id }, query: { user_id: user.id } },
        { operation: 'terminate deployment', timeoutMs: 30_000 },
      ),
    onSuccess: ({ pod_id, cost_so_far }, { kind }) => {
      notify.success(imageKinds[kind].terminated, {
        id: workId(pod_id),
        description: chargeText(cost_so_far),
      });
      readAgain(['deployment']);
    },
    meta: { prefix: 'Termination failed: ' },
  });
}
