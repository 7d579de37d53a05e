import { deployVllm } from '@bakehouse/contract/deployments';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Rocket } from 'lucide-react';
import { call } from '../../lib/api-client.ts';
import { queryClient } from '../../lib/query-client.ts';
import { Button } from '../../ui/button.tsx';
import { Money } from '../../ui/money.tsx';
import { notify } from '../../ui/notify.ts';
import { useUser } from '../accounts/api.ts';
import { useServingDevice, useServingPrice } from './serving-prices.ts';

/** Serves a model and leads to its page, with the price of an hour beside the button. */
export function DeployButton({ modelId }: { modelId: string }) {
  const user = useUser();
  const navigate = useNavigate();
  const price = useServingPrice('text_serving', useServingDevice());
  const deployment = useMutation({
    mutationFn: () =>
      call(deployVllm, { body: { model_id: modelId, user_id: user.id } }, { operation: 'deploy model' }),
    onSuccess: async ({ pod_id }) => {
      notify.success('Model deployment initiated successfully');
      await navigate({ to: '/my-deployments/$podId', params: { podId: pod_id } });
      await queryClient.invalidateQueries({ queryKey: ['deployment'] });
    },
    onError: (error) => notify.error(error, { product: 'Deployment' }),
  });
  return (
    <>
      {price && (
        <span className="text-[0.8125rem] text-muted">
          <Money bgl={price} /> / hour
        </span>
      )}
      <Button variant="primary" loading={deployment.isPending} onClick={() => deployment.mutate()}>
        <Rocket aria-hidden />
        Deploy
      </Button>
    </>
  );
}
