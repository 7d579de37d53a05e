import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Rocket } from 'lucide-react';
import { call } from '../../lib/api/api-client.ts';
import { useIdempotencyKeys } from '../../lib/api/idempotency-key.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { Button } from '../../ui/button.tsx';
import { awaitEnd } from '../../ui/long-work.ts';
import { Money } from '../../ui/money.tsx';
import { notify } from '../../ui/notify.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useUser } from '../accounts/api.ts';
import { deploymentKinds, workId } from './kinds.ts';
import { useHourPrice } from './serving-prices.ts';

const { calls, words } = deploymentKinds.text;

type Props = {
  modelId: string;
  /** What the button says; 'Deploy' unless given. */
  label?: string;
};

/** Serves a model and leads to its page, with the price of an hour beside the button. */
export function DeployButton({ modelId, label = 'Deploy' }: Props) {
  const user = useUser();
  const navigate = useNavigate();
  const keys = useIdempotencyKeys();
  const { price, failed, retry } = useHourPrice();
  const deployment = useMutation({
    mutationFn: () =>
      call(
        calls.deploy,
        { body: { model_id: modelId, user_id: user.id } },
        { operation: 'deploy model', idempotencyKey: keys.keyFor(modelId) },
      ),
    onSuccess: async ({ pod_id }) => {
      keys.renew();
      notify.success(words.initiated);
      awaitEnd(workId(pod_id));
      await navigate({ to: '/my-deployments/$podId', params: { podId: pod_id } });
      await queryClient.invalidateQueries({ queryKey: ['deployment'] });
    },
    meta: { product: 'Deployment' },
  });
  return (
    <div className="flex items-center gap-2">
      <span className="text-[0.8125rem] text-muted">
        {price ? (
          <>
            <Money bgl={price} /> per hour
          </>
        ) : failed ? (
          'The price could not be loaded.'
        ) : (
          <>
            <span className="sr-only">Loading the price…</span>
            <Skeleton className="h-4 w-[5.75rem]" />
          </>
        )}
      </span>
      {failed ? (
        <Button onClick={retry}>Try again</Button>
      ) : (
        <Button
          variant="primary"
          disabled={price === undefined}
          loading={deployment.isPending}
          onClick={() => deployment.mutate()}
        >
          <Rocket aria-hidden />
          {label}
        </Button>
      )}
    </div>
  );
}
