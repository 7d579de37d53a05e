import {
  type Configuration,
  deleteConfiguration,
  listConfigurations,
  renameConfiguration,
  saveConfiguration,
} from '@bakehouse/contract/configurations';
import type { CallOf } from '@bakehouse/contract/endpoint';
import { CONFIGURATION_NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { assetQuery } from '../../assets/asset-queries.ts';
import {
  type ModelType,
  type TrainingParameters,
  usesParameter,
  wireParameters,
} from '../parameters/training-parameters.ts';

/** The server's limit. */
const FILE_BYTES_MAX = 64 * 1024;

const configurationsQuery = endpointQuery(['configuration'], listConfigurations);
const changed = () => refetchQueries(configurationsQuery.queryKey);

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

export function useSaveConfiguration() {
  return useMutation({
    mutationFn: ({ name, choices }: { name: string; choices: Choices }) =>
      call(saveConfiguration, { body: { config_name: name, fine_tune_payload: payloadOf(choices) } }),
    onSuccess: changed,
  });
}

/** Returns the chosen values, without parameters that the type doesn't use. */
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
      const name = freeName(
        config_name,
        configurations.map((one) => one.config_name),
      );
      // The server validates the content and names the invalid field.
      const body = { ...rest, config_name: name } as CallOf<typeof saveConfiguration>['body'];
      return call(saveConfiguration, { body });
    },
    onSuccess: changed,
    meta: { title: 'The configuration could not be imported' },
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

export type FileFormat = 'yaml' | 'json';

/** Returns a configuration as an importable file, with its name and parameters. */
export async function writeConfigurationFile(
  { config_name, fine_tune_payload }: Pick<Configuration, 'config_name' | 'fine_tune_payload'>,
  format: FileFormat,
): Promise<string> {
  const content = { config_name, fine_tune_payload };
  if (format === 'json') return `${JSON.stringify(content, null, 2)}\n`;
  const { stringify } = await import('yaml');
  return stringify(content);
}

/**
 * Parses a YAML or JSON file. Uses the file name if the content has no name, and drops the owner, because the
 * importing user owns the copy. Throws an `ApiError` if it isn't a configuration.
 */
export async function readConfigurationFile(
  file: File,
): Promise<{ config_name: string } & Record<string, unknown>> {
  if (file.size > FILE_BYTES_MAX) throw refused(`${file.name} is too large for a configuration.`);
  const text = await file.text();
  const { parse } = await import('yaml');
  let content: unknown;
  try {
    // YAML is a superset of JSON.
    content = parse(text);
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n');
    throw refused(`${file.name} is neither YAML nor JSON: ${reason.replace(/:$/, '.')}`);
  }
  if (!isRecord(content)) throw refused(`${file.name} does not contain a configuration.`);
  const { config_name, configName, ...rest } = withoutOwner(content);
  const name = config_name ?? configName ?? file.name.replace(/\.(ya?ml|json)$/i, '');
  if (typeof name !== 'string') throw refused(`config_name of ${file.name} must be text.`);
  return { ...rest, config_name: name };
}

/** An invalid input error like the server's, which isn't reported as an app error. */
function refused(sentence: string): ApiError {
  return new ApiError(sentence, { status: 400, code: 'invalid_request' });
}

/** Returns the name, or the first of 'name (2)', 'name (3)', … that isn't taken. */
export function freeName(name: string, taken: readonly string[]): string {
  if (!taken.includes(name)) return name;
  for (let n = 2; ; n += 1) {
    const ending = ` (${n})`;
    const other = name.slice(0, CONFIGURATION_NAME_LENGTH_MAX - ending.length) + ending;
    if (!taken.includes(other)) return other;
  }
}

function withoutOwner(content: Record<string, unknown>): Record<string, unknown> {
  const { user_id: _one, userId: _other, ...rest } = content;
  for (const name of ['fine_tune_payload', 'fineTunePayload']) {
    const nested = rest[name];
    if (isRecord(nested)) rest[name] = withoutOwner(nested);
  }
  return rest;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
