import type { Generation, GenerationParameters } from '@bakehouse/contract/generations';

/** What is brought along to a generator's page: it stands in the form when the page opens. */
export type Brought = {
  prompt?: string;
  settings?: GenerationParameters;
  /** The generation whose picture is edited. */
  source?: string;
  /** Which of its pictures, where it made several. */
  source_output?: string;
  /** The generation whose source is edited once more. */
  same_source_as?: string;
  /** The deployment that generates, by its name. */
  model?: string;
  /** Or the service that does, by its title. */
  service?: string;
};

export const remixParts = [
  { value: 'all', label: 'Everything' },
  { value: 'prompt', label: 'Prompt only' },
  { value: 'seed', label: 'Seed only' },
] as const;
export type RemixPart = (typeof remixParts)[number]['value'];

/** What of a generation is taken over into the form. */
export function remixOf(
  {
    id,
    prompt,
    parameters,
    seed,
    source,
  }: Pick<Generation, 'id' | 'prompt' | 'parameters' | 'seed' | 'source'>,
  part: RemixPart,
): Brought {
  switch (part) {
    case 'all':
      return { prompt, settings: { ...parameters, seed }, ...(source && { same_source_as: id }) };
    case 'prompt':
      return { prompt };
    case 'seed':
      return { settings: { seed } };
  }
}
