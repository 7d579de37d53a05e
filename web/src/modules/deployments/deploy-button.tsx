import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Rocket } from 'lucide-react';
import { call } from '../../lib/api/api-client.ts';
import { useIdempotencyKeys } from '../../lib/api/idempotency-key.ts';
import { isPriceChange } from '../../lib/api/is-price-change.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { readAgain } from '../../lib/mutation/read-again.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { Button } from '../../ui/button.tsx';
import { awaitEnd } from '../../ui/long-work.ts';
import { Money } from '../../ui/money.tsx';
import { errorMessage, notify } from '../../ui/notify.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useUser } from '../accounts/api.ts';
import { textQuoteQuery } from './details/text-quote.ts';
import { deploymentKinds, workId } from './kinds.ts';

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
  const keys = useIdempotencyKeys('text-deployment');
  const body = { model_id: modelId, user_id: user.id };
  const quote = useQuery(textQuoteQuery(body));
  const price = quote.data?.price_per_hour;
  const deployment = useMutation({
    mutationFn: () =>
      call(
        calls.deploy,
        { body: { ...body, cost_max: price } },
        { operation: 'deploy model', idempotencyKey: keys.keyFor(modelId) },
      ),
    // What it costs now is shown before it is asked for once more.
    onError: () => queryClient.invalidateQueries(textQuoteQuery(body)),
    onSuccess: ({ pod_id }) => {
      keys.renew(modelId);
      notify.success(words.initiated);
      awaitEnd(workId(pod_id));
      readAgain(['deployment']);
    },
    meta: { product: 'Deployment', inPlace: isPriceChange },
  });
  // Who has gone elsewhere meanwhile stays there.
  const deploy = () =>
    deployment.mutate(undefined, {
      onSuccess: ({ pod_id }) => void navigate({ to: '/my-deployments/$podId', params: { podId: pod_id } }),
    });
  return (
    <div className="flex items-center gap-2">
      <span className="max-w-xs text-[0.8125rem] text-muted [overflow-wrap:anywhere]">
        {price ? (
          <>
            <span role="status">{isPriceChange(deployment.error) && 'The price has changed: '}</span>
            <Money bgl={price} /> per hour
          </>
        ) : quote.isError ? (
          errorMessage(quote.error)
        ) : (
          <>
            <span className="sr-only">Loading the price…</span>
            <Skeleton className="h-4 w-[5.75rem]" />
          </>
        )}
      </span>
      {quote.isError && price === undefined ? (
        <Button loading={quote.isFetching} onClick={() => void quote.refetch()}>
          Try again
        </Button>
      ) : (
        <Button
          variant="primary"
          disabled={price === undefined}
          loading={deployment.isPending}
          onClick={deploy}
        >
          <Rocket aria-hidden />
          {label}
        </Button>
      )}
    </div>
  );
}
