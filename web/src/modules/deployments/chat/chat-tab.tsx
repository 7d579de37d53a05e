import type { Deployment } from '@bakehouse/contract/deployments/text';
import { deploymentKinds } from '../kinds.ts';
import { Playground } from './playground.tsx';

const { usable, pending, ended } = deploymentKinds.text;

/** The conversation with a deployment: it goes on while the deployment can answer, and can be read after its end. */
export function ChatTab({ pod }: { pod: Deployment }) {
  const closed = whyClosed(pod);
  if (!closed && !canChat(pod)) {
    return <p className="py-8 text-center text-muted">You can chat as soon as the model is running.</p>;
  }
  return (
    <Playground
      conversationId={pod.pod_id}
      modelName={pod.model_name}
      device={pod.device === 'CPU' ? 'CPU' : 'GPU'}
      pricePerHour={pod.price_per_hour}
      closed={closed}
    />
  );
}

function whyClosed({ status }: Deployment): string | undefined {
  if (status === 'stopping') return 'This deployment is being terminated.';
  return ended.has(status) ? 'This deployment has ended. Deploy the model again to chat with it.' : undefined;
}

/** It answers, or has answered before and takes a question while it wakes or starts again. */
function canChat({ status, ready_at }: Deployment): boolean {
  return usable.has(status) || (ready_at !== null && pending.has(status));
}
