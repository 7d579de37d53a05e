import type { Generation, GenerationParameters } from '@bakehouse/contract/generations';

/** Values that a link brings to a generator's form. */
export type PrefilledInput = {
  prompt?: string;
  settings?: GenerationParameters;
  /** The generation whose picture is edited. */
  source?: string;
  /** The picture to edit, if the generation has several. */
  source_output?: string;
  /** The generation whose source is edited again. */
  same_source_as?: string;
  /** Name of the deployment that generates. */
  model?: string;
  /** Title of the service that generates. */
  service?: string;
};

export const remixParts = [
  { value: 'all', label: 'Everything' },
  { value: 'prompt', label: 'Prompt only' },
  { value: 'seed', label: 'Seed only' },
] as const;
export type RemixPart = (typeof remixParts)[number]['value'];

/** Returns the values to copy from a generation into the form. */
export function remixOf(
  {
    id,
    prompt,
    parameters,
    seed,
    source,
  }: Pick<Generation, 'id' | 'prompt' | 'parameters' | 'seed' | 'source'>,
  part: RemixPart,
): PrefilledInput {
  switch (part) {
    case 'all':
      return { prompt, settings: { ...parameters, seed }, ...(source && { same_source_as: id }) };
    case 'prompt':
      return { prompt };
    case 'seed':
      return { settings: { seed } };
  }
}
