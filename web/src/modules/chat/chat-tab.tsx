import type { Deployment } from '@bakehouse/contract/deployments/text';
import type { ReactNode } from 'react';
import { type Opened, Playground } from './playground.tsx';
import type { Together } from './shared-question.ts';

type Props = {
  pod: Deployment;
  opened?: Opened | undefined;
  about?: ReactNode;
  folded?: boolean;
  together?: Together | undefined;
};

/** A conversation with a deployment. Read-only once the deployment has ended. */
export function ChatTab({ pod, ...shown }: Props) {
  const closed = whyClosed(pod);
  if (!closed && !canChat(pod)) {
    return <p className="py-8 text-center text-muted">You can chat as soon as the model is running.</p>;
  }
  return (
    <Playground
      model={pod.pod_id}
      modelName={pod.model_name}
      device={pod.device === 'CPU' ? 'CPU' : 'GPU'}
      contextTokens={pod.context_tokens}
      pricePerHour={pod.price_per_hour}
      closed={closed}
      {...shown}
    />
  );
}

function whyClosed({ status }: Deployment): string | undefined {
  if (status === 'stopping') return 'This deployment is being terminated.';
  return status === 'terminated' || status === 'failed'
    ? 'This deployment has ended. Deploy the model again to chat with it.'
    : undefined;
}

/** True if the deployment has answered before and has not ended; it may have to wake first. */
export function canChat({ status, ready_at }: Pick<Deployment, 'status' | 'ready_at'>): boolean {
  return ready_at !== null && !['stopping', 'terminated', 'failed'].includes(status);
}
