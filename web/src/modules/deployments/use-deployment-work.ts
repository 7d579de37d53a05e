import type { Deployment } from '@bakehouse/contract/deployments';
import type { ImageDeployment } from '@bakehouse/contract/image-deployments';
import type { LongWork } from '../../ui/long-work.ts';
import { useUser } from '../accounts/api.ts';
import { useDeployments, useTerminate } from './api.ts';
import { useImageDeployments, useTerminateImage } from './images/calls.ts';
import { deploymentKinds, workId } from './kinds.ts';

const KIND = 'text';
const { pending, words } = deploymentKinds[KIND];

/** Deployments of every kind on their way to their first answer, as the list of long work shows them; waking up is none. */
export function useDeploymentWork(): LongWork[] {
  return [...useTextWork(), ...useImageWork()];
}

function useTextWork(): LongWork[] {
  // Those that have ended too: one that fails on its way has.
  const { data } = useDeployments(KIND, useUser().id, true);
  const termination = useTerminate(KIND);
  const pods = data?.pages.flatMap((page) => page.pods) ?? [];
  return pods.map((pod) => ({
    id: workId(pod.pod_id),
    title: pod.title,
    phase: pod.reason || 'Starting',
    progress: pod.progress,
    link: { to: '/my-deployments/$podId', params: { podId: pod.pod_id } },
    cancel: {
      question: questionFor(pod.title),
      run: () => termination.mutate(pod.pod_id),
    },
    end: endOf(pod),
  }));
}

function useImageWork(): LongWork[] {
  const kontext = useImageDeployments('flux-kontext').data ?? [];
  const flux = useImageDeployments('flux').data ?? [];
  const termination = useTerminateImage();
  return [...kontext, ...flux].map((deployment) => ({
    id: workId(deployment.pod_id),
    title: deployment.title,
    phase: deployment.reason || 'Starting',
    progress: deployment.progress,
    link: { to: '/my-deployments/images/$podId', params: { podId: deployment.pod_id } },
    cancel: {
      question: questionFor(deployment.title),
      run: () => termination.mutate(deployment),
    },
    end: endOfImage(deployment),
  }));
}

const questionFor = (title: string) => ({
  title: `Terminate ${title}?`,
  description: 'It has not answered yet. You can deploy the model again at any time.',
  action: 'Terminate',
});

/** How the way of an image model to its first answer ended; null while it is on it. */
export function endOfImage({
  status,
  ready_at,
  reason,
}: Pick<ImageDeployment, 'status' | 'ready_at' | 'reason'>): LongWork['end'] {
  if (status === 'failed') return { kind: 'failure', title: words.failed, description: reason };
  return ready_at === null ? null : { kind: 'success', title: words.completed };
}

/** How its way to the first answer ended; null while it is on it. */
export function endOf({ title, status, ready_at, reason }: Deployment): LongWork['end'] {
  if (status === 'failed') return { kind: 'failure', title: words.failed, description: reason };
  if (ready_at === null && (status === 'terminated' || status === 'stopping')) {
    return { kind: 'info', title: `${title} was terminated` };
  }
  const isPending = ready_at === null && pending.has(status);
  return isPending ? null : { kind: 'success', title: words.completed };
}
