import {
  type DiffusionTrainingChoice,
  type DiffusionValidation,
  startDiffusionTraining,
  validateDiffusionTraining,
} from '@bakehouse/contract/diffusion-training';
import type { CallOf } from '@bakehouse/contract/endpoint';
import { getRunSamples, makeCheckpointModel } from '@bakehouse/contract/runs';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { isPriceChange } from '../../../lib/api/is-price-change.ts';
import { useFallbackInterval } from '../../../lib/live/event-stream.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';

/** The server reads every picture completely. */
const VALIDATION_TIMEOUT_MS = 600_000;
const POLL_MS = 3_000;

/** The wizard shows one toast at a time. */
export const LORA_TOAST = 'train-lora';

export type LoraChoice = CallOf<typeof validateDiffusionTraining>['body'] &
  Pick<DiffusionTrainingChoice, 'dataset_id' | 'model_id'>;

/** Validates the pictures as training would; resolves to the estimate and any obstacles. */
export function useValidateLora() {
  return useMutation({
    meta: { toastId: LORA_TOAST },
    mutationFn: (choice: LoraChoice): Promise<DiffusionValidation> =>
      call(validateDiffusionTraining, { body: choice }, { timeoutMs: VALIDATION_TIMEOUT_MS }),
  });
}

type Start = {
  choice: LoraChoice;
  title: string;
  ceiling: string;
  /** The displayed estimate: the run is started with its price as the maximum, at its machine load. */
  shown: DiffusionValidation['cost_estimate'];
  idempotencyKey: string;
};

/** Creates the model and starts its run. */
export function useStartLora() {
  return useMutation({
    meta: { product: 'Training', toastId: LORA_TOAST, inPlace: isPriceChange },
    mutationFn: ({ choice, title, ceiling, shown, idempotencyKey }: Start) =>
      call(
        startDiffusionTraining,
        {
          body: {
            ...choice,
            title,
            ...(ceiling && { ceiling }),
            cost_max: shown.quote.total,
            slowdown: shown.slowdown,
          },
        },
        { idempotencyKey, timeoutMs: VALIDATION_TIMEOUT_MS },
      ),
    onSuccess: () => refetchQueries(['asset'], ['run'], ['balance']),
  });
}

/** Query for the samples that a run's checkpoints have drawn. */
export const runSamplesQuery = (runId: string) =>
  endpointQuery(['run', 'samples', runId], getRunSamples, { params: { runId } });

export function useRunSamples(runId: string) {
  return useQuery({
    ...runSamplesQuery(runId),
    refetchInterval: useFallbackInterval(POLL_MS),
  });
}

/** Creates a model from a checkpoint. Idempotent: a repeat returns the same model. */
export function useCheckpointModel(runId: string) {
  return useMutation({
    mutationFn: (step: number) => call(makeCheckpointModel, { params: { runId, step: String(step) } }),
    onSuccess: () => refetchQueries(['asset'], ['run']),
  });
}
