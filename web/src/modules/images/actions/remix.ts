import type { Generation, GenerationParameters } from '@bakehouse/contract/generations';

/** What is brought along to a generator's page: it stands in the form when the page opens. */
export type Brought = { prompt?: string; settings?: GenerationParameters };

export const remixParts = [
  { value: 'all', label: 'Everything' },
  { value: 'prompt', label: 'Prompt only' },
  { value: 'seed', label: 'Seed only' },
] as const;
export type RemixPart = (typeof remixParts)[number]['value'];

/** What of a generation is taken over into the form. */
export function remixOf(
  { prompt, parameters, seed }: Pick<Generation, 'prompt' | 'parameters' | 'seed'>,
  part: RemixPart,
): Brought {
  switch (part) {
    case 'all':
      return { prompt, settings: { ...parameters, seed } };
    case 'prompt':
      return { prompt };
    case 'seed':
      return { settings: { seed } };
  }
}
