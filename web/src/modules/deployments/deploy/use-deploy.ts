import type { imageCalls } from '@bakehouse/contract/deployments/images';
import type { quoteVllm } from '@bakehouse/contract/deployments/text';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { acceptLicence, type Licence } from '@bakehouse/contract/licences';
import type { GpuCount, InstanceType } from '@bakehouse/contract/limits';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { isPriceChange } from '../../../lib/api/is-price-change.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { expectEnd } from '../../../ui/long-work.ts';
import { notify } from '../../../ui/notify.ts';
import { useUser } from '../../accounts/session.ts';
import { deploymentKinds, type Kind, kindRow, workId } from '../kinds.ts';

/** A deployment to create. GPUs and context are set only if the kind offers them. */
export type DeploymentRequest = {
  kind: Kind;
  modelId: string;
  instanceType?: InstanceType;
  gpuCount?: GpuCount;
  contextTokens?: number;
};

/** A text model needs no licence and has a context size. */
type Quote = Omit<ResponseOf<typeof imageCalls.flux.quote>, 'licence' | 'title'> & {
  licence?: Licence | null;
} & Partial<Pick<ResponseOf<typeof quoteVllm>, 'context_tokens' | 'context_tokens_max'>>;

const bodyOf = ({ modelId, instanceType, gpuCount, contextTokens }: DeploymentRequest, userId: string) => ({
  model_id: modelId,
  user_id: userId,
  ...(instanceType && { instance_type: instanceType }),
  ...(gpuCount && { gpu_count: gpuCount }),
  ...(contextTokens && { context_tokens: contextTokens }),
});

/** Reads where the model would run, its price, and the licence it needs. */
export const quoteQuery = (request: DeploymentRequest, userId: string) =>
  queryOptions({
    queryKey: ['deployment', 'quote', request, userId],
    queryFn: ({ signal }): Promise<Quote> =>
      call(
        deploymentKinds[request.kind].calls.quote,
        { body: bodyOf(request, userId) },
        { signal, operation: 'load the price' },
      ),
  });

type Deploy = {
  request: DeploymentRequest;
  /** The licence that the click accepts. */
  licence: Licence | null;
  /** The displayed hourly price, sent as the maximum. */
  price: string | undefined;
};

/** Accepts the licence, if one is given, and deploys. */
export function useDeploy() {
  const user = useUser();
  const keys = useIdempotencyKeys('deployment');
  return useMutation({
    mutationFn: async ({ request, licence, price }: Deploy) => {
      if (licence) {
        await call(
          acceptLicence,
          { body: { user_id: user.id, licence: licence.licence, version: licence.version } },
          { operation: 'accept the license' },
        );
      }
      const { words } = kindRow(request.kind);
      return call(
        deploymentKinds[request.kind].calls.deploy,
        { body: { ...bodyOf(request, user.id), cost_max: price } },
        {
          operation: words?.operations.deploy ?? 'deploy model',
          idempotencyKey: keys.keyFor(request),
        },
      ).catch((error: unknown) => {
        const isSignedOut = error instanceof ApiError && error.status === 401;
        throw words && isSignedOut ? new Error(words.noUser, { cause: error }) : error;
      });
    },
    onSuccess: ({ pod_id }, { request }) => {
      keys.renew(request);
      notify.success(kindRow(request.kind).words?.initiated ?? 'Model deployment initiated successfully');
      expectEnd(workId(pod_id));
      refetchQueries(['deployment']);
    },
    // Shows the current price before the user retries.
    onError: () => queryClient.invalidateQueries({ queryKey: ['deployment'] }),
    meta: { product: 'Deployment', inPlace: isPriceChange },
  });
}
