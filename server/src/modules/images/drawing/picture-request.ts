import { type ImageRequest, imageRequest } from '@bakehouse/contract/runtime/serve-image-spec';
import type { GenerationRow } from '../queries.ts';

/** Longer prompts are read by no model that draws; a file holds no more of what it says of itself. */
const PROMPT_TOLD_MAX = 1_500;

/** So many previews of a picture, however many steps it has. */
const PREVIEWS = 10;

/** What the model server is asked for a generation. The file tells how it was made. Pure. */
export function pictureRequest(row: GenerationRow): ImageRequest {
  const { prompt, parameters, seed, steps, model, id } = row;
  return imageRequest.parse({
    ...{ prompt, steps },
    seed: Number(seed),
    guidance: parameters.cfg_scale,
    strategy: parameters.sampling_strategy,
    k: parameters.k,
    preview_every: Math.ceil(steps / PREVIEWS),
    format: parameters.output_format,
    metadata: {
      prompt: prompt.slice(0, PROMPT_TOLD_MAX).toWellFormed(),
      model,
      generation_id: id,
      ...Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)])),
    },
  });
}
