import type { Deployment } from '@bakehouse/contract/deployments/text';
import { useQuery } from '@tanstack/react-query';
import { chargeText, outcomeText } from '../../lib/format/outcome-text.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import type { LongWork } from '../../ui/long-work.ts';
import { useUser } from '../accounts/api.ts';
import { useTerminate } from './api.ts';
import { usePollMs, useTerminateImage } from './images/calls.ts';
import { deploymentKinds, workId } from './kinds.ts';
import { imageWorkQuery, textWorkQuery } from './work/work-queries.ts';

const KIND = 'text';
const TEXT_POLL_MS = 5_000;
const { words } = deploymentKinds[KIND];

/** Deployments of every kind, as the list of long work shows them. */
export function useDeploymentWork(): LongWork[] {
  return [...useTextWork(), ...useImageWork()];
}

function useTextWork(): LongWork[] {
  const polling = { refetchInterval: useFallbackInterval(TEXT_POLL_MS) };
  const { data: pods = [] } = useQuery({ ...textWorkQuery(useUser().id), ...polling });
  const termination = useTerminate(KIND);
  return pods.flatMap((pod) =>
    workOf(pod, {
      link: { to: '/my-deployments/$podId', params: { podId: pod.pod_id } },
      terminate: () => termination.mutate(pod.pod_id),
    }),
  );
}

function useImageWork(): LongWork[] {
  const pollMs = usePollMs();
  const { data: deployments = [] } = useQuery({
    ...imageWorkQuery(useUser().id),
    refetchInterval: ({ state }) => pollMs(state.data ?? []),
  });
  const termination = useTerminateImage();
  return deployments.flatMap((deployment) =>
    workOf(deployment, {
      link: { to: '/my-deployments/images/$podId', params: { podId: deployment.pod_id } },
      terminate: () => termination.mutate(deployment),
    }),
  );
}

/** Of any kind: its states are its own. */
type AnyDeployment = Pick<
  Deployment,
  'pod_id' | 'title' | 'reason' | 'stop_reason' | 'progress' | 'ready_at' | 'terminated_at' | 'cost_so_far'
> & { status: string };

type Actions = { link: LongWork['link']; terminate: () => void };

/** Its start, which lasts until the first answer and is no waking up; and from then on that it answers. */
export function workOf(deployment: AnyDeployment, { link, terminate }: Actions): LongWork[] {
  const { pod_id, title, reason, progress } = deployment;
  const id = workId(pod_id);
  const start: LongWork = {
    id,
    title,
    phase: reason || 'Starting',
    progress,
    ...(link && { link }),
    cancel: { question: questionFor(title), run: terminate },
    end: endOfStart(deployment),
  };
  if (!isServing(deployment)) return [start];
  const end = endForWantOfCredit(deployment);
  return [start, { id: `${id}-serving`, title, phase: 'Running', progress: null, isUnlisted: true, end }];
}

const questionFor = (title: string) => ({
  title: `Terminate ${title}?`,
  description: 'It has not answered yet. You can deploy the model again at any time.',
  action: 'Terminate',
});

/** How its start ended; null while it starts. */
function endOfStart(deployment: AnyDeployment): LongWork['end'] {
  const { title, status, reason, ready_at, terminated_at, cost_so_far } = deployment;
  if (status === 'failed')
    return { kind: 'failure', title: words.failed, description: outcomeText(reason, cost_so_far) };
  if (ready_at !== null) return { kind: 'success', title: words.completed };
  if (terminated_at === null) return null;
  return (
    endForWantOfCredit(deployment) ?? {
      kind: 'success',
      title: `${title} was terminated`,
      description: chargeText(cost_so_far),
    }
  );
}

/** Whether it has answered, and goes on to, unless nothing more could be paid for it. */
function isServing({ ready_at, terminated_at, stop_reason }: AnyDeployment): boolean {
  return ready_at !== null && (terminated_at === null || stop_reason !== null);
}

function endForWantOfCredit({ title, reason, stop_reason, cost_so_far }: AnyDeployment): LongWork['end'] {
  if (stop_reason === null) return null;
  return { kind: 'warning', title: `${title} was stopped`, description: outcomeText(reason, cost_so_far) };
}
