import { deleteConfiguration, listConfigurations, saveConfiguration } from '@bakehouse/contract/training';
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api-client.ts';
import { queryClient } from '../../lib/query-client.ts';
import { assetQuery } from '../assets/api.ts';
import { type FineTuneChoice, wireParameters } from './api.ts';
import type { Configuration } from './create-model-wizard-state.ts';

const configurationsQuery = queryOptions({
  queryKey: ['configuration'],
  queryFn: ({ signal }) => call(listConfigurations, {}, { signal, operation: 'fetch the configurations' }),
});

export function useConfigurations() {
  return useQuery(configurationsQuery);
}

/** Fails when the model or the dataset that a configuration names is gone. */
export function useApplicableConfiguration() {
  return useMutation({
    meta: { title: 'Failed to apply configuration' },
    mutationFn: ({ base_model, asset_id }: Configuration['fine_tune_payload']) =>
      Promise.all(
        [base_model, asset_id].flatMap((id) =>
          id === undefined ? [] : [queryClient.fetchQuery(assetQuery(id))],
        ),
      ),
  });
}

export function useSaveConfiguration() {
  return useMutation({
    mutationFn: ({ name, choice }: { name: string; choice: FineTuneChoice }) =>
      call(
        saveConfiguration,
        {
          body: {
            config_name: name,
            fine_tune_payload: {
              model_name: choice.name,
              asset_id: choice.datasetId,
              base_model: choice.baseModelId,
              file_name: choice.fileName,
              ...wireParameters(choice.parameters),
            },
          },
        },
        { operation: 'save the configuration' },
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['configuration'] }),
  });
}

export function useDeleteConfiguration() {
  return useMutation({
    mutationFn: (configId: string) =>
      call(deleteConfiguration, { params: { configId } }, { operation: 'delete the configuration' }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['configuration'] }),
  });
}
