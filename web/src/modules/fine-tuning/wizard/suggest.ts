import type { uploadBaseModelTypes } from '@bakehouse/contract/limits';
import type { ChosenFile } from '../../../lib/files/chosen-file.ts';

/** Suggestions for choices that have one option or follow from names. */

/** Returns the type of a Transformers model from its config.json; undefined if the wizard doesn't have it. */
export function suggestBaseModelType(config: unknown): (typeof uploadBaseModelTypes)[number] | undefined {
  const type =
    typeof config === 'object' && config !== null && 'model_type' in config ? config.model_type : null;
  if (typeof type !== 'string') return undefined;
  if (type.startsWith('qwen')) return 'qwen';
  return type === 'llama' ? 'llama3' : undefined;
}

/** Returns the base model type from the config.json among the files. */
export async function readBaseModelType(files: readonly ChosenFile[]) {
  const config = files.find(({ path }) => path === 'config.json');
  try {
    return config && suggestBaseModelType(JSON.parse(await config.file.text()));
  } catch {
    return undefined;
  }
}

/** Returns the id of the only asset; undefined if there are several or none. */
export function idOfOnlyAsset(assets: readonly { dataset_id: string }[]): string | undefined {
  return assets.length === 1 ? assets[0]?.dataset_id : undefined;
}

/** Returns the id of the starter model, else of the first model; undefined if there is none. */
export function defaultBase(
  bases: readonly { dataset_id: string; is_starter: boolean }[],
): string | undefined {
  return (bases.find((one) => one.is_starter) ?? bases[0])?.dataset_id;
}

/**
 * Returns the requested file if the dataset has it, else the only file.
 * @param isCut the list is truncated, so the requested file may be missing from it.
 */
export function suggestFile(
  files: readonly { path: string }[],
  wanted: string | undefined,
  isCut = false,
): string | undefined {
  if (isCut) return wanted;
  const found = files.find(({ path }) => path === wanted);
  return found?.path ?? (files.length === 1 ? files[0]?.path : undefined);
}
