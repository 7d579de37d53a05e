import type { Deployment } from '@bakehouse/contract/deployments/text';
import { type Opened, Playground } from './playground.tsx';

/** A conversation with a deployment. Read-only once the deployment has ended. */
export function ChatTab({ pod, opened }: { pod: Deployment; opened: Opened }) {
  const chat = chatWith(pod);
  // Before its first answer, it has no conversation.
  if (pod.ready_at === null && chat.closed && pod.terminated_at === null)
    return <p className="py-8 text-center text-muted">{chat.closed}</p>;
  return <Playground {...{ ...chat, opened }} />;
}

/** Returns what a conversation needs to know about a deployment. */
export function chatWith(pod: Deployment) {
  return {
    model: pod.pod_id,
    modelName: pod.model_name,
    device: pod.device === 'CPU' ? 'CPU' : 'GPU',
    contextTokens: pod.context_tokens,
    pricePerHour: pod.price_per_hour,
    closed: whyClosed(pod),
  } as const;
}

function whyClosed(pod: Deployment): string | undefined {
  const { status } = pod;
  if (status === 'stopping') return 'This deployment is being terminated.';
  if (status === 'terminated' || status === 'failed')
    return 'This deployment has ended. Deploy the model again to chat with it.';
  return canChat(pod) ? undefined : 'You can chat as soon as the model is running.';
}

/** True if the deployment has answered before and has not ended; it may have to wake first. */
export function canChat({ status, ready_at }: Pick<Deployment, 'status' | 'ready_at'>): boolean {
  return ready_at !== null && !['stopping', 'terminated', 'failed'].includes(status);
}
