import { DEFAULT_PROMPT, type DraftSettings, draftNumbers, TEXT_PLACE } from '@bakehouse/contract/drafts';
import { numberProblem } from '@bakehouse/contract/fields/number-field';
import type { Problems } from '../../../ui/use-form.ts';

/** Values of the form: a missing number is NaN, an unselected model ''. */
export type SettingsForm = DraftSettings;

/** Returns the previous settings, or defaults that suit small models. */
export function initialSettings(before: DraftSettings | null, models: readonly string[]): SettingsForm {
  if (before && models.includes(before.model)) return before;
  return {
    model: models[0] ?? '',
    rows_per_chunk: before?.rows_per_chunk ?? draftNumbers.rows_per_chunk.default,
    chunk_characters: before?.chunk_characters ?? draftNumbers.chunk_characters.default,
    overlap_characters: before?.overlap_characters ?? draftNumbers.overlap_characters.default,
    prompt: before?.prompt ?? DEFAULT_PROMPT,
  };
}

/** Returns the settings' problems in the server's words. */
export function problemsOf(values: SettingsForm): Problems<SettingsForm> {
  const number = (name: keyof typeof draftNumbers) => numberProblem(draftNumbers[name], values[name]);
  const isLong = values.overlap_characters > values.chunk_characters / 2;
  return {
    model: values.model === '' ? 'Choose a model' : undefined,
    rows_per_chunk: number('rows_per_chunk'),
    chunk_characters: number('chunk_characters'),
    overlap_characters:
      number('overlap_characters') ??
      (isLong ? 'Overlap must be at most half of the characters per chunk' : undefined),
    prompt: values.prompt.includes(TEXT_PLACE)
      ? undefined
      : `The prompt must have ${TEXT_PLACE} where the text goes`,
  };
}
