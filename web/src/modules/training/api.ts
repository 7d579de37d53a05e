import { createAsset } from '@bakehouse/contract/assets';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import {
  cancelRun,
  type FineTuneValidation,
  getRun,
  getRunLogs,
  getRunMetrics,
  listRuns,
  type Run,
  resumeRun,
  validateFineTune,
} from '@bakehouse/contract/training';
import {
  infiniteQueryOptions,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
} from '@tanstack/react-query';
import { call } from '../../lib/api-client.ts';
import { useFallbackInterval } from '../../lib/event-stream.ts';
import { useIdempotencyKeys } from '../../lib/idempotency-key.ts';
import { queryClient } from '../../lib/query-client.ts';
import type { TrainingParameters } from './create-model-wizard-state.ts';
import { joinPoints, missingAfter } from './curves.ts';

export { shownState } from './run-sentences.ts';
export { UnfinishedBadge, useUnfinishedRuns } from './unfinished-badge.tsx';
export { unfinishedText } from './unfinished-model.ts';

const POLL_MS = 3_000;
/** Reading and counting the tokens of a large file takes its time. */
const VALIDATION_TIMEOUT_MS = 120_000;

/** The caller's runs page by page, newest first. */
export const runListQuery = infiniteQueryOptions({
  queryKey: ['run', 'list'],
  queryFn: ({ pageParam, signal }) =>
    call(listRuns, { query: { cursor: pageParam ?? undefined } }, { signal, operation: 'fetch runs' }),
  initialPageParam: null as string | null,
  getNextPageParam: (page) => page.next_cursor,
});

export function useRuns() {
  return useInfiniteQuery({ ...runListQuery, refetchInterval: useFallbackInterval(POLL_MS) });
}

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ['run', 'one', runId],
    queryFn: ({ signal }) => call(getRun, { params: { runId } }, { signal, operation: 'fetch the run' }),
  });

export function useRun(runId: string, { enabled = true } = {}) {
  return useQuery({ ...runQuery(runId), enabled, refetchInterval: useFallbackInterval(POLL_MS) });
}

/** The curves; once they are here, only what is new in them is read. */
export const runMetricsQuery = (runId: string) => {
  const queryKey = ['run', 'metrics', runId];
  return queryOptions({
    queryKey,
    queryFn: async ({ signal }) => {
      const known = queryClient.getQueryData<ResponseOf<typeof getRunMetrics>>(queryKey)?.points ?? [];
      const { points } = await call(
        getRunMetrics,
        { params: { runId }, query: { after: missingAfter(known) } },
        { signal, operation: 'fetch the curves' },
      );
      return { points: joinPoints(known, points) };
    },
  });
};

export function useRunMetrics(runId: string) {
  return useQuery({ ...runMetricsQuery(runId), refetchInterval: useFallbackInterval(POLL_MS) });
}

export function useRunLogs(runId: string) {
  return useQuery({
    queryKey: ['run', 'logs', runId],
    queryFn: ({ signal }) =>
      call(getRunLogs, { params: { runId }, query: {} }, { signal, operation: 'fetch the log' }),
    refetchInterval: useFallbackInterval(POLL_MS),
  });
}

export function useCancelRun(runId: string) {
  return useMutation({
    mutationFn: () => call(cancelRun, { params: { runId } }, { operation: 'cancel the run' }),
    onSuccess: (run: Run) => {
      queryClient.setQueryData(runQuery(runId).queryKey, run);
      return queryClient.invalidateQueries({ queryKey: ['run'] });
    },
  });
}

/** Goes on with a cancelled or failed run from its last checkpoint, under the ceiling that is given. */
export function useResumeRun(runId: string) {
  const keys = useIdempotencyKeys();
  return useMutation({
    mutationFn: (ceiling: string) =>
      call(
        resumeRun,
        { params: { runId }, body: { ceiling } },
        { operation: 'resume the run', idempotencyKey: keys.keyFor({ runId, ceiling }) },
      ),
    onSuccess: (run: Run) => {
      keys.renew();
      queryClient.setQueryData(runQuery(runId).queryKey, run);
      return queryClient.invalidateQueries({ queryKey: ['run'] });
    },
    meta: { product: 'Fine-tune' },
  });
}

export type FineTuneChoice = {
  userId: string;
  name: string;
  tags: string[];
  baseModelId: string;
  datasetId: string;
  fileName: string;
  parameters: TrainingParameters;
  /** Empty: as the server proposes. */
  ceiling: string;
};

/** The wizard shows one toast at a time: each says what stands in the way now. */
export const WIZARD_TOAST = 'create-model';

/** Reads the data as training would; resolves with the estimate and what stands in the way. */
export function useValidateFineTune() {
  return useMutation({
    meta: { toastId: WIZARD_TOAST },
    mutationFn: ({
      baseModelId,
      datasetId,
      fileName,
      parameters,
    }: FineTuneChoice): Promise<FineTuneValidation> => {
      const { accelerator_type, accelerator_count, ...fields } = wireParameters(parameters);
      return call(
        validateFineTune,
        {
          body: {
            dataset_id: datasetId,
            file_name: fileName,
            model_id: baseModelId,
            gpu_type: accelerator_type,
            accelerator_count,
            ...fields,
          },
        },
        { operation: 'validate parameters', timeoutMs: VALIDATION_TIMEOUT_MS },
      );
    },
  });
}

/** Creates the model and starts its run; resolves with the model's id. */
export function useStartFineTune() {
  return useMutation({
    meta: { product: 'Fine-tune', toastId: WIZARD_TOAST },
    mutationFn: ({ choice, idempotencyKey }: { choice: FineTuneChoice; idempotencyKey: string }) =>
      call(
        createAsset,
        {
          body: {
            dataset_type: 'MODEL',
            title: choice.name,
            category: 'Artificial intelligence',
            tags: choice.tags,
            user_id: choice.userId,
            fine_tune_payload: {
              asset_id: choice.datasetId,
              model_name: choice.name,
              base_model: choice.baseModelId,
              file_name: choice.fileName,
              user_id: choice.userId,
              ...(choice.ceiling && { ceiling: choice.ceiling }),
              ...wireParameters(choice.parameters),
            },
          },
        },
        { idempotencyKey, operation: 'create model', timeoutMs: VALIDATION_TIMEOUT_MS },
      ),
    onSuccess: () =>
      Promise.all(
        ['asset', 'run', 'balance'].map((family) => queryClient.invalidateQueries({ queryKey: [family] })),
      ),
  });
}

export type UploadedModel = {
  userId: string;
  name: string;
  tags: string[];
  baseModelType: 'llama3' | 'qwen';
  idempotencyKey: string;
};

/** Creates an empty model for uploaded files; resolves with its id. */
export function useCreateUploadedModel() {
  return useMutation({
    meta: { toastId: WIZARD_TOAST },
    mutationFn: ({ userId, name, tags, baseModelType, idempotencyKey }: UploadedModel) =>
      call(
        createAsset,
        {
          body: {
            dataset_type: 'MODEL',
            title: name,
            category: 'Artificial intelligence',
            tags,
            user_id: userId,
            base_model_type: baseModelType,
          },
        },
        { idempotencyKey, operation: 'create model' },
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['asset'] }),
  });
}

/** The wizard's parameters as the wire names them: only those columns that the format is told. */
export function wireParameters({
  data_format,
  input_column,
  output_column,
  system_column,
  accelerator_type,
  accelerator_count,
  ...rest
}: TrainingParameters) {
  return {
    ...rest,
    accelerator_type: accelerator_type ?? undefined,
    accelerator_count: accelerator_count as 1 | 2 | 4 | 8,
    ...(data_format && { data_format }),
    ...(input_column && { input_column }),
    ...(output_column && { output_column }),
    // Empty means none, where the file may have one.
    ...(data_format && data_format !== 'text' && { system_column }),
  };
}
