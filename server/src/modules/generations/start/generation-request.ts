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
   * Name of the model in the API: a starter or a deployment of the caller. Defaults to the choice of
   * `chooseProvider`.
   */
  model?: string | undefined;
  /** Alternatively, the service by its title. */
  service?: string | undefined;
  /** The picture to edit, for generators that edit. */
  source?: Source | undefined;
  /**
   * Alternatively, its id. Resolved when the generation starts: a repeated call gets the same response even
   * if the picture is gone.
   */
  picture_id?: string | undefined;
  source_generation_id?: string | undefined;
  source_output_id?: string | undefined;
  /** Original parameters of another API, which its responses repeat. */
  asked?: VideoParameters | undefined;
};
