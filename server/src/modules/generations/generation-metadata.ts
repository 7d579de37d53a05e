import type { GenerationRow } from './queries.ts';

/** Returns the metadata to embed in a picture's file, each value as text. */
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
