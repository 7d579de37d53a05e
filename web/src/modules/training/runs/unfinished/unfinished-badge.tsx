import type { AssetSummary } from '@bakehouse/contract/assets';
import { listRuns, type Run } from '@bakehouse/contract/runs';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call } from '../../../../lib/api/api-client.ts';
import { useFallbackInterval } from '../../../../lib/live/event-stream.ts';
import { StatusBadge } from '../../../../ui/status-badge.tsx';
import { displayState } from '../run-state.ts';

const POLL_MS = 3_000;
/** As many models as one call takes; each has one run. */
const MODELS_PER_CALL = 100;

/** The runs that the models without files wait for, or have waited for in vain: one query for all of them. */
function useUnfinishedRuns(models: readonly AssetSummary[]): Run[] {
  const modelIds = models.filter((model) => model.file_count === 0).map((model) => model.dataset_id);
  const { data } = useQuery({
    queryKey: ['run', 'list', { modelIds }],
    queryFn: ({ signal }) => readRuns(modelIds, signal),
    enabled: modelIds.length > 0,
    // One model more or less takes no badge from the others.
    placeholderData: keepPreviousData,
    refetchInterval: useFallbackInterval(POLL_MS),
  });
  return data ?? [];
}

async function readRuns(modelIds: readonly string[], signal: AbortSignal): Promise<Run[]> {
  const starts = Array.from(
    { length: Math.ceil(modelIds.length / MODELS_PER_CALL) },
    (_, n) => n * MODELS_PER_CALL,
  );
  const pages = await Promise.all(
    starts.map((start) => {
      const ids = modelIds.slice(start, start + MODELS_PER_CALL);
      const query = { model_id: ids.join(','), limit: MODELS_PER_CALL };
      return call(listRuns, { query }, { signal });
    }),
  );
  return pages.flatMap(({ runs }) => runs);
}

type Props = {
  model: AssetSummary;
  /** All that are shown: their runs are read in one call. */
  models: readonly AssetSummary[];
};

/** How far the run is that a model without files waits for; nothing where the model has files. */
export function UnfinishedBadge({ model, models }: Props) {
  return model.file_count === 0 && <RunBadge model={model} models={models} />;
}

function RunBadge({ model, models }: Props) {
  const run = useUnfinishedRuns(models).find(({ model_id }) => model_id === model.dataset_id);
  return run && <StatusBadge status={displayState(run)} />;
}
