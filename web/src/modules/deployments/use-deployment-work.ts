import type { Deployment } from '@bakehouse/contract/deployments';
import type { LongWork } from '../../ui/long-work.ts';
import { useUser } from '../accounts/api.ts';
import { useDeployments, useTerminate } from './api.ts';
import { deploymentKinds } from './kinds.ts';

const KIND = 'text';
const { onItsWay, words } = deploymentKinds[KIND];

/** Deployments on their way to their first answer, as the list of long work shows them; waking up is none. */
export function useDeploymentWork(): LongWork[] {
  // Those that have ended too: one that fails on its way has.
  const { data } = useDeployments(KIND, useUser().id, true);
  const termination = useTerminate(KIND);
  const pods = data?.pages.flatMap((page) => page.pods) ?? [];
  return pods.map((pod) => ({
    id: `deployment-${pod.pod_id}`,
    title: pod.title,
    phase: pod.reason || 'Starting',
    progress: pod.progress,
    link: { to: '/my-deployments/$podId', params: { podId: pod.pod_id } },
    cancel: {
      question: {
        title: `Terminate ${pod.title}?`,
        description: 'It has not answered yet. You can deploy the model again at any time.',
        action: 'Terminate',
      },
      run: () => termination.mutate(pod.pod_id),
    },
    end: endOf(pod),
  }));
}

/** How its way to the first answer ended; null while it is on it. */
export function endOf({ title, status, ready_at, reason }: Deployment): LongWork['end'] {
  if (status === 'failed') return { kind: 'failure', title: words.failed, description: reason };
  if (ready_at === null && (status === 'terminated' || status === 'stopping')) {
    return { kind: 'info', title: `${title} was terminated` };
  }
  const isOnItsWay = ready_at === null && onItsWay.has(status);
  return isOnItsWay ? null : { kind: 'success', title: words.completed };
}
