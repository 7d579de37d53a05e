import type { AssetSummary } from '@bakehouse/contract/assets';
import { listRuns, type Run } from '@bakehouse/contract/runs';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call } from '../../../../lib/api/api-client.ts';
import { useFallbackInterval } from '../../../../lib/live/event-stream.ts';
import { StatusBadge } from '../../../../ui/status-badge.tsx';
import { modelState } from '../run-state.ts';

const POLL_MS = 3_000;
/** Maximum number of models per request. */
const MODELS_PER_CALL = 100;

/** Returns the runs of all models that have no files, in a single query. */
function useUnfinishedRuns(models: readonly AssetSummary[]): Run[] {
  const modelIds = models.filter((model) => model.file_count === 0).map((model) => model.dataset_id);
  const { data } = useQuery({
    queryKey: ['run', 'list', { modelIds }],
    queryFn: ({ signal }) => readRuns(modelIds, signal),
    enabled: modelIds.length > 0,
    // Keep the badges of other models when one is added or removed.
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
  /** All displayed models, so that their runs are fetched in one request. */
  models: readonly AssetSummary[];
};

/** Progress of the run that produces a model; nothing if the model has files. */
export function UnfinishedBadge({ model, models }: Props) {
  return model.file_count === 0 && <RunBadge model={model} models={models} />;
}

function RunBadge({ model, models }: Props) {
  const run = useUnfinishedRuns(models).find(({ model_id }) => model_id === model.dataset_id);
  return run && <StatusBadge status={modelState(run)} />;
}
