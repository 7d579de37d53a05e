import { listRuns, type Run } from '@bakehouse/contract/runs';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { readAllPages } from '../../../lib/api/read-all-pages.ts';
import { outcomeText } from '../../../lib/format/outcome-text.ts';
import { useFallbackInterval } from '../../../lib/live/event-stream.ts';
import type { LongWork } from '../../../ui/long-work.ts';
import { useCancelRun } from './run-calls.ts';
import { cancelQuestion, phaseText } from './run-sentences.ts';

const POLL_MS = 3_000;
const PAGE_LENGTH = 100;

/** Query for all active and recently ended runs, across pages. */
export const recentRunsQuery = queryOptions({
  queryKey: ['run', 'list', 'recent'],
  queryFn: async ({ signal }) => {
    const pages = await readAllPages((cursor) => {
      const query = { recent: 'true', limit: PAGE_LENGTH, cursor };
      return call(listRuns, { query }, { signal });
    });
    return { runs: pages.flatMap(({ runs }) => runs) };
  },
});

/** Returns runs for the list of long-running tasks. */
export function useRunWork(): LongWork[] {
  const cancel = useCancelRun();
  const { data } = useQuery({ ...recentRunsQuery, refetchInterval: useFallbackInterval(POLL_MS) });
  return (data?.runs ?? []).map((run) => runWork(run, () => cancel.mutate(run.run_id)));
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
