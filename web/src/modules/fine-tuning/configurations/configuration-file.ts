import type { Configuration } from '@bakehouse/contract/configurations';
import { CONFIGURATION_NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { ApiError } from '../../../lib/api/api-error.ts';

export type FileFormat = 'yaml' | 'json';

/** The server's limit. */
const FILE_BYTES_MAX = 64 * 1024;

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
  if (file.size > FILE_BYTES_MAX) throw refused(`${file.name} is too large for a template.`);
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
  if (!isRecord(content)) throw refused(`${file.name} does not contain a template.`);
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
export function uniqueName(name: string, taken: readonly string[]): string {
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
