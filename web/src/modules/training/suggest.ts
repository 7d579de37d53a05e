import type { Suggestion } from './create-model-wizard-state.ts';

/** What the wizard chooses by itself, because there is no other choice or its name says what it is. */

/** The id of the one that there is; undefined where the person has to choose. */
export function onlyOne(assets: readonly { dataset_id: string }[]): string | undefined {
  return assets.length === 1 ? assets[0]?.dataset_id : undefined;
}

/** The wanted file, if the dataset has it, else the only one. */
export function suggestFile(
  files: readonly { path: string }[],
  wanted: string | undefined,
): string | undefined {
  const found = files.find(({ path }) => path === wanted);
  return found?.path ?? (files.length === 1 ? files[0]?.path : undefined);
}

/** How public datasets name what the model is asked and what it should answer, the plainest first. */
const pairs = [
  ['question', 'answer'],
  ['prompt', 'completion'],
  ['instruction', 'output'],
  ['input', 'output'],
] as const;

/** Columns by their usual names, whatever their case. A lone `text` is what goes in; its answer is not guessed. */
export function suggestColumns(
  columns: readonly string[],
): Pick<Suggestion, 'input_column' | 'output_column'> {
  const find = (name: string) => columns.find((column) => column.trim().toLowerCase() === name);
  for (const [input, output] of pairs) {
    const [input_column, output_column] = [find(input), find(output)];
    if (input_column && output_column) return { input_column, output_column };
  }
  return { input_column: find('text') };
}
