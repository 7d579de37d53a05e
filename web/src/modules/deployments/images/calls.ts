import {
  getImageDeployment,
  type ImageDeployment,
  type ImageDeploymentKind,
} from '@bakehouse/contract/image-deployments';
import { acceptLicence, type Licence } from '@bakehouse/contract/licences';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { isPriceChange } from '../../../lib/api/is-price-change.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { chargeText } from '../../../lib/format/outcome-text.ts';
import { useFallbackInterval } from '../../../lib/live/event-stream.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { awaitEnd } from '../../../ui/long-work.ts';
import { notify } from '../../../ui/notify.ts';
import { useUser } from '../../accounts/api.ts';
import { deploymentKinds, workId } from '../kinds.ts';
import { imageKinds, isAwaited, pending, usable } from './kinds.ts';

/** More of one kind nobody keeps awake at once. */
const LISTED_MAX = 100;
/** What it costs moves with time, not with events. */
const COST_MS = 60_000;

/** Where a name is looked for, ended ones are among them. */
export const imageDeploymentsQuery = (kind: ImageDeploymentKind, userId: string, search?: string) =>
  queryOptions({
    queryKey: ['deployment', 'list', kind, userId, ...(search ? [{ search }] : [])],
    queryFn: async ({ signal }) => {
      const { deployments } = await call(
        imageKinds[kind].calls.list,
        {
          params: { userId },
          query: { limit: LISTED_MAX, ...(search && { search, include_terminated: 'true' }) },
        },
        { signal, operation: 'fetch deployments' },
      );
      return deployments;
    },
  });

/** The user's deployments of a kind that have not ended, and those that have lately, though nobody terminated them. */
export function useImageDeployments(kind: ImageDeploymentKind) {
  const user = useUser();
  const fallback = useFallbackInterval(imageKinds[kind].pollMs);
  return useQuery({
    ...imageDeploymentsQuery(kind, user.id),
    refetchInterval: ({ state }) => (isAwaited(state.data ?? [], Date.now()) ? fallback : false),
  });
}

/** The Kontext deployment that edits pictures: the newest that answers, else one that will; null where there is none. */
export function useActiveKontextDeployment(): ImageDeployment | null | undefined {
  const { data } = useImageDeployments('flux-kontext');
  return data && activeOf(data);
}

/** Whether this user's edits are made by a deployment of their own; not while nobody is named, or it is not known. */
export function useHasKontextDeployment(userId: string | undefined): boolean {
  const { data = [] } = useQuery({
    ...imageDeploymentsQuery('flux-kontext', userId ?? ''),
    enabled: userId !== undefined,
  });
  return activeOf(data) !== null;
}

/** This user's deployments of a kind that can be used at once; none while nobody is named, or they are not known. */
export function useUsableDeployments(
  kind: ImageDeploymentKind,
  userId: string | undefined,
): ImageDeployment[] {
  const { data = [] } = useQuery({
    ...imageDeploymentsQuery(kind, userId ?? ''),
    enabled: userId !== undefined,
  });
  return data.filter(({ status }) => usable.has(status));
}

/** Of some deployments the one that is used. */
function activeOf(deployments: readonly ImageDeployment[]): ImageDeployment | null {
  const those = (states: ReadonlySet<ImageDeployment['status']>) =>
    deployments.find(({ status }) => states.has(status));
  return those(usable) ?? those(pending) ?? null;
}

export function useImageDeployment(podId: string) {
  const fallback = useFallbackInterval(imageKinds.flux.pollMs);
  return useQuery({
    // Its id is the third, by which changes are distinguished; a text deployment is read under the same three.
    queryKey: ['deployment', 'one', podId, 'image'],
    queryFn: ({ signal }) =>
      call(getImageDeployment, { params: { podId } }, { signal, operation: 'fetch deployments' }),
    refetchInterval: ({ state: { data } }) => {
      if (data?.status === 'running') return COST_MS;
      return data && isAwaited([data], Date.now()) ? fallback : false;
    },
  });
}

/** What is asked for in the dialog. */
export type ImageDeploymentWish = { kind: ImageDeploymentKind; modelId: string; instanceType: string };

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
  const keys = useIdempotencyKeys();
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
    onSuccess: ({ pod_id }) => {
      keys.renew();
      notify.success(deploymentKinds.text.words.initiated);
      awaitEnd(workId(pod_id));
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['deployment'] }),
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
    onSuccess: ({ pod_id, cost_so_far }) => {
      notify.success('FLUX deployment terminated successfully!', {
        id: workId(pod_id),
        description: chargeText(cost_so_far),
      });
      return queryClient.invalidateQueries({ queryKey: ['deployment'] });
    },
    meta: { prefix: 'Termination failed: ' },
  });
}
