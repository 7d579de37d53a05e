import { createAsset } from '@bakehouse/contract/assets';
import { type FineTuneValidation, validateFineTune } from '@bakehouse/contract/fine-tuning';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { isPriceChange } from '../../../lib/api/is-price-change.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { useDebounced } from '../../../lib/use-debounced.ts';
import { type TrainingParameters, wireParameters } from '../parameters/training-parameters.ts';

/* Queries and mutations of the wizard. Not part of the first screen. */

/** Reading and tokenizing a large file takes time. */
const VALIDATION_TIMEOUT_MS = 120_000;

export type FineTuneChoice = {
  userId: string;
  name: string;
  tags: string[];
  /** An asset id, or a name on the Hub. */
  baseModelId: string;
  /** The base model's name on the Hub; null if the base model is an asset. */
  hubModelId: string | null;
  datasetId: string;
  fileName: string;
  parameters: TrainingParameters;
  /** In BGL; empty for the server's proposal. */
  ceiling: string;
};

/** The wizard shows one toast at a time: the current obstacle. */
export const WIZARD_TOAST = 'create-model';

/** Validates the data as training would; resolves to the estimate and any obstacles. */
export function useValidateFineTune(inPlace: boolean) {
  return useMutation({
    meta: { toastId: WIZARD_TOAST, inPlace },
    mutationFn: (choice: FineTuneChoice): Promise<FineTuneValidation> =>
      call(validateFineTune, { body: validationOf(choice) }, { timeoutMs: VALIDATION_TIMEOUT_MS }),
  });
}

/** Returns the price of a choice while it is edited; the previous one, marked as stale, until it is known. */
export function useLivePrice(choice: FineTuneChoice | null) {
  const wanted = JSON.stringify(choice && validationOf(choice));
  const asked = useDebounced(wanted, choice !== null);
  const { data, isError, isPlaceholderData } = useQuery({
    ...endpointQuery(
      ['fine-tune-price', asked],
      validateFineTune,
      { body: JSON.parse(asked) },
      { retry: false, call: { timeoutMs: VALIDATION_TIMEOUT_MS } },
    ),
    enabled: choice !== null,
    placeholderData: keepPreviousData,
  });
  if (choice === null || isError || data?.critical_errors.length !== 0) return undefined;
  return { ...data.cost_estimate, isStale: asked !== wanted || isPlaceholderData };
}

function validationOf(choice: FineTuneChoice) {
  const { baseModelId, datasetId, fileName } = choice;
  const { accelerator_type, accelerator_count, ...fields } = parametersOf(choice);
  return {
    dataset_id: datasetId,
    file_name: fileName,
    model_id: baseModelId,
    gpu_type: accelerator_type,
    accelerator_count,
    ...fields,
  };
}

export type Estimate = Pick<FineTuneValidation['cost_estimate'], 'quote' | 'slowdown'>;

type Start = {
  choice: FineTuneChoice;
  /** The displayed estimate: the run is started with its price as the maximum, at its machine load. */
  shown: Estimate;
  idempotencyKey: string;
};

/** Creates the model and starts its run; resolves to the model's id. */
export function useStartFineTune() {
  return useMutation({
    meta: { product: 'Fine-tune', toastId: WIZARD_TOAST, inPlace: isPriceChange },
    mutationFn: ({ choice, shown, idempotencyKey }: Start) => {
      const { name: title, tags, userId: user_id } = choice;
      const agreed = { cost_max: shown.quote.total, slowdown: shown.slowdown };
      const fine_tune_payload = { ...payloadOf(choice), ...agreed };
      return call(
        createAsset,
        { body: { dataset_type: 'MODEL', title, tags, user_id, fine_tune_payload } },
        { idempotencyKey, timeoutMs: VALIDATION_TIMEOUT_MS, operation: 'create model' },
      );
    },
    onSuccess: () => refetchQueries(['asset'], ['run'], ['balance']),
  });
}

function payloadOf(choice: FineTuneChoice) {
  return {
    asset_id: choice.datasetId,
    model_name: choice.name,
    ...baseOf(choice),
    file_name: choice.fileName,
    user_id: choice.userId,
    ...(choice.ceiling && { ceiling: choice.ceiling }),
    ...parametersOf(choice),
  };
}

/** For a Hub model, sends its name on the Hub and a variant that is valid as a folder name. */
function baseOf({ baseModelId, hubModelId }: FineTuneChoice) {
  if (hubModelId === null) return { base_model: baseModelId };
  return { base_model: hubModelId.replaceAll('/', '-'), hf_model_id: hubModelId };
}

function parametersOf({ hubModelId, parameters }: Pick<FineTuneChoice, 'hubModelId' | 'parameters'>) {
  const { max_chunk_size, stride, ...asked } = wireParameters(parameters);
  return hubModelId === null ? { ...asked, max_chunk_size, stride } : asked;
}

export type UploadedModel = {
  userId: string;
  name: string;
  tags: string[];
  baseModelType: 'llama3' | 'qwen';
  idempotencyKey: string;
};

/** Creates an empty model for uploaded files; resolves to its id. */
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
            tags,
            user_id: userId,
            base_model_type: baseModelType,
          },
        },
        { idempotencyKey, operation: 'create model' },
      ),
    onSuccess: () => refetchQueries(['asset']),
  });
}
