import { listRuns } from '@bakehouse/contract/training';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api-client.ts';
import { useFallbackInterval } from '../../lib/event-stream.ts';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { shownState } from './run-sentences.ts';

const POLL_MS = 3_000;

/** How far the run is that an empty model waits for, or has waited for in vain. */
export function UnfinishedBadge({ modelId }: { modelId: string }) {
  const { data } = useQuery({
    queryKey: ['run', 'list', { modelId }],
    queryFn: ({ signal }) =>
      call(listRuns, { query: { model_id: modelId, limit: 1 } }, { signal, operation: 'fetch runs' }),
    refetchInterval: useFallbackInterval(POLL_MS),
  });
  const run = data?.runs[0];
  return run ? <StatusBadge status={shownState(run)} /> : null;
}
