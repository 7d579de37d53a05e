import type { GenerationParameters } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import type { VideoAsked } from '../queries.ts';
import type { Source } from '../sources/read-source.ts';

/** What a call asks a generator for. */
export type GenerationRequest = {
  generator: GeneratorName;
  prompt: string;
  parameters: GenerationParameters;
  /** The model that generates, by its name on the wire: a starter or a deployment of the caller; who `chooseProvider` finds unless said. */
  model?: string | undefined;
  /** Or the service that generates, by its title. */
  service?: string | undefined;
  /** What is edited, where the generator edits. */
  source?: Source | undefined;
  /** Or what names it. It is looked up with the start: who repeats a call hears the same when it is long gone. */
  picture_id?: string | undefined;
  source_generation_id?: string | undefined;
  source_output_id?: string | undefined;
  /** What a call of another wire said in its own words, which its answers repeat. */
  asked?: VideoAsked | undefined;
};
