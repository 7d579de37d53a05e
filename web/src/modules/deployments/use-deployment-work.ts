import { chargeText, outcomeText } from '../../lib/format/outcome-text.ts';
import { type OwnWork, useOwnWork } from '../../lib/live/own-work.ts';
import type { LongWork } from '../../ui/long-work.ts';
import { kindRow, linkTo, workId } from './kinds.ts';
import { useTerminate } from './use-terminate.ts';

/** Deployments of every kind as long work. */
export function useDeploymentWork(): LongWork[] {
  const termination = useTerminate();
  return (useOwnWork('deployments') ?? []).flatMap((deployment) =>
    workOf(deployment, { link: linkTo(deployment), terminate: () => termination.mutate(deployment) }),
  );
}

type Started = Pick<
  OwnWork['deployments'][number],
  | 'kind'
  | 'pod_id'
  | 'title'
  | 'status'
  | 'reason'
  | 'stop_reason'
  | 'progress'
  | 'ready_at'
  | 'terminated_at'
  | 'cost_so_far'
>;

type Actions = { link: LongWork['link']; terminate: () => void };

/**
 * Returns the long work of a deployment. The start lasts until the first answer. While the deployment serves,
 * a hidden entry announces when it is stopped for lack of credit.
 */
export function workOf(deployment: Started, { link, terminate }: Actions): LongWork[] {
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

/** Returns how the start ended; null while starting. */
function endOfStart(deployment: Started): LongWork['end'] {
  const { kind, title, status, reason, ready_at, terminated_at, cost_so_far } = deployment;
  const { words } = kindRow(kind);
  if (status === 'failed')
    return {
      kind: 'failure',
      title: words?.failed ?? 'Model deployment failed',
      description: outcomeText(reason || (words?.failure ?? ''), cost_so_far),
    };
  if (ready_at !== null)
    return { kind: 'success', title: words?.ready ?? 'Model deployment completed successfully!' };
  if (terminated_at === null) return null;
  return (
    endForWantOfCredit(deployment) ?? {
      kind: 'success',
      title: `${title} was terminated`,
      description: chargeText(cost_so_far),
    }
  );
}

/** True if the deployment was ready and has not been terminated, except for lack of credit. */
function isServing({ ready_at, terminated_at, stop_reason }: Started): boolean {
  return ready_at !== null && (terminated_at === null || stop_reason !== null);
}

function endForWantOfCredit({ title, reason, stop_reason, cost_so_far }: Started): LongWork['end'] {
  if (stop_reason === null) return null;
  return { kind: 'warning', title: `${title} was stopped`, description: outcomeText(reason, cost_so_far) };
}
