import type { GenerationRow } from './queries.ts';

/** What the file of a generation's picture says of how it was made: all of it, each value as a text. Pure. */
export function generationMetadata({
  prompt,
  model,
  id,
  parameters,
}: Pick<GenerationRow, 'prompt' | 'model' | 'id' | 'parameters'>): Record<string, string> {
  return {
    ...{ prompt, model, generation_id: id },
    ...Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)])),
  };
}
