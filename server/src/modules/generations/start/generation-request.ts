import type { GenerationParameters } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import type { VideoParameters } from '../queries.ts';
import type { Source } from '../sources/sources.ts';

/** A request to a generator. */
export type GenerationRequest = {
  generator: GeneratorName;
  prompt: string;
  parameters: GenerationParameters;
  /**
   * The model's name in the API: a starter or a deployment of the caller. If undefined, `chooseProvider`
   * chooses.
   */
  model?: string | undefined;
  /** Title of the service that generates, instead of `model`. */
  service?: string | undefined;
  /** The picture to edit, for generators that edit. */
  source?: Source | undefined;
  /**
   * Id of the picture to edit, instead of `source`. It is resolved only when a generation starts, so that a
   * repeated call gets the same response even if the picture is gone.
   */
  picture_id?: string | undefined;
  source_generation_id?: string | undefined;
  source_output_id?: string | undefined;
  /** The mask that limits the edit, or its id. */
  mask?: Source | undefined;
  mask_id?: string | undefined;
  /** Parameters as sent to the videos API, which returns them in its responses. */
  asked?: VideoParameters | undefined;
};
