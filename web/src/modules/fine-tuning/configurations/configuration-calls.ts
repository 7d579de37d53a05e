import {
  type Configuration,
  deleteConfiguration,
  listConfigurations,
  renameConfiguration,
  saveConfiguration,
} from '@bakehouse/contract/configurations';
import type { CallOf } from '@bakehouse/contract/endpoint';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { assetQuery } from '../../datasets/asset-queries.ts';
import {
  type ModelType,
  type TrainingParameters,
  usesParameter,
  wireParameters,
} from '../parameters/training-parameters.ts';
import { readConfigurationFile, uniqueName } from './configuration-file.ts';

/** The wizard values that a configuration stores. */
export type Choices = {
  type: ModelType | null;
  name: string;
  baseModelId: string | null;
  hubModelId: string;
  datasetId: string | null;
  fileName: string | null;
  parameters: TrainingParameters;
};

export const configurationsQuery = endpointQuery(['configuration'], listConfigurations);

export function useConfigurations() {
  return useQuery(configurationsQuery);
}

/**
 * Fails if the configuration's model or dataset was deleted. A Hub model isn't an asset, so it isn't checked.
 */
export function useApplicableConfiguration() {
  return useMutation({
    meta: { title: 'Failed to apply configuration' },
    mutationFn: ({ base_model, hf_model_id, asset_id }: Configuration['fine_tune_payload']) =>
      Promise.all(
        [hf_model_id === undefined ? base_model : undefined, asset_id].flatMap((id) =>
          id === undefined ? [] : [queryClient.fetchQuery(assetQuery(id))],
        ),
      ),
  });
}

const changed = () => refetchQueries(configurationsQuery.queryKey);

export function useSaveConfiguration() {
  return useMutation({
    mutationFn: ({ name, choices }: { name: string; choices: Choices }) =>
      call(saveConfiguration, { body: { config_name: name, fine_tune_payload: payloadOf(choices) } }),
    onSuccess: changed,
  });
}

/** Returns the chosen values, without parameters that the model type doesn't use. */
function payloadOf({ type, name, baseModelId, hubModelId, datasetId, fileName, parameters }: Choices) {
  const asked = Object.entries({
    ...wireParameters(parameters),
    accelerator_type: parameters.accelerator_type,
  });
  return {
    ...Object.fromEntries(asked.filter(([field]) => usesParameter(type, field))),
    ...(name.trim() !== '' && { model_name: name.trim() }),
    ...(datasetId !== null && { asset_id: datasetId }),
    ...(fileName !== null && { file_name: fileName }),
    ...(type === 'huggingface'
      ? { hf_model_id: hubModelId }
      : baseModelId !== null && { base_model: baseModelId }),
  };
}

/** Saves a configuration from a file under a unique name. */
export function useImportConfiguration() {
  return useMutation({
    mutationFn: async (file: File) => {
      const { config_name, ...rest } = await readConfigurationFile(file);
      const { configurations } = await queryClient.fetchQuery(configurationsQuery);
      const name = uniqueName(
        config_name,
        configurations.map((one) => one.config_name),
      );
      // The server validates the content and names the invalid field.
      const body = { ...rest, config_name: name } as CallOf<typeof saveConfiguration>['body'];
      return call(saveConfiguration, { body });
    },
    onSuccess: changed,
    meta: { title: 'The template could not be imported' },
  });
}

export function useRenameConfiguration() {
  return useMutation({
    meta: { inPlace: true },
    mutationFn: ({ id, name }: { id: string; name: string }) =>
      call(renameConfiguration, { params: { configId: id }, body: { config_name: name } }),
    onSuccess: changed,
  });
}

export function useDeleteConfiguration() {
  return useMutation({
    mutationFn: (configId: string) => call(deleteConfiguration, { params: { configId } }),
    onSuccess: changed,
  });
}
