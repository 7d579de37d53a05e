import type { uploadBaseModelTypes } from '@bakehouse/contract/limits';
import type { ChosenFile } from '../../../lib/files/chosen-file.ts';

/** What the wizard chooses by itself, because there is no other choice or its name says what it is. */

/** What a model of Transformers is, by what its config.json says; undefined where the wizard has no such type. */
export function suggestBaseModelType(config: unknown): (typeof uploadBaseModelTypes)[number] | undefined {
  const type =
    typeof config === 'object' && config !== null && 'model_type' in config ? config.model_type : null;
  if (typeof type !== 'string') return undefined;
  if (type.startsWith('qwen')) return 'qwen';
  return type === 'llama' ? 'llama3' : undefined;
}

/** What the config.json among the files says the model is. */
export async function readBaseModelType(files: readonly ChosenFile[]) {
  const config = files.find(({ path }) => path === 'config.json');
  try {
    return config && suggestBaseModelType(JSON.parse(await config.file.text()));
  } catch {
    return undefined;
  }
}

/** The id of the one that there is; undefined where the person has to choose. */
export function onlyOne(assets: readonly { dataset_id: string }[]): string | undefined {
  return assets.length === 1 ? assets[0]?.dataset_id : undefined;
}

/** The id of the starter model, else of the first one; undefined where there is none. */
export function usualBase(bases: readonly { dataset_id: string; is_starter: boolean }[]): string | undefined {
  return (bases.find((one) => one.is_starter) ?? bases[0])?.dataset_id;
}

/**
 * The wanted file, if the dataset has it, else the only one.
 * @param isCut the dataset has more files than these: the wanted one may be among the others.
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
