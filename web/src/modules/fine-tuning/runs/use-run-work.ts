import type { Run } from '@bakehouse/contract/runs';
import { outcomeText } from '../../../lib/format/outcome-text.ts';
import { useOwnWork } from '../../../lib/live/own-work.ts';
import type { LongWork } from '../../../ui/long-work.ts';
import { useCancelRun } from './run-calls.ts';
import { cancelQuestion, phaseText } from './run-sentences.ts';

/** Returns runs for the list of long-running tasks. */
export function useRunWork(): LongWork[] {
  const cancel = useCancelRun();
  return (useOwnWork('runs') ?? []).map((run) => runWork(run, () => cancel.mutate(run.run_id)));
}

function runWork(run: Run, cancel: () => void): LongWork {
  return {
    id: `run-${run.run_id}`,
    title: run.title,
    phase: phaseText(run),
    progress: run.state === 'queued' ? null : run.progress,
    link: { to: '/runs/$id', params: { id: run.run_id } },
    ...(run.state !== 'stopping' && {
      cancel: { question: cancelQuestion(run), run: cancel },
    }),
    end: runEndToast(run),
  };
}

/** Returns the toast for the run's end. */
export function runEndToast({
  kind,
  state,
  title,
  reason,
  stop_reason,
  charged,
}: Pick<Run, 'kind' | 'state' | 'title' | 'reason' | 'stop_reason' | 'charged'>): LongWork['end'] {
  const description = outcomeText(reason, charged);
  const doing = kind === 'export' ? 'Exporting' : 'Training';
  switch (state) {
    case 'completed':
      return {
        kind: 'success',
        title: `${title} ${kind === 'export' ? 'is ready' : 'has finished training'}`,
      };
    case 'failed':
      return { kind: 'failure', title: `${doing} ${title} failed`, description };
    case 'cancelled':
      return stop_reason === null
        ? {
            kind: 'info',
            title: `${doing} ${title} was cancelled`,
            // Omit the reason, because the title already says that the owner cancelled the run.
            description: outcomeText('', charged),
          }
        : stop_reason === 'ceiling'
          ? {
              kind: 'warning',
              title: `${doing} ${title} stopped at its spending limit`,
              description: `${description} You can resume it with a higher limit.`,
            }
          : { kind: 'warning', title: `${doing} ${title} was stopped`, description };
    case 'queued':
    case 'starting':
    case 'running':
    case 'stopping':
      return null;
  }
}
