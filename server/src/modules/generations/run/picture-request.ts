import {
  type ImageLora,
  type ImageRequest,
  kontextImageRequest,
  parisImageRequest,
} from '@bakehouse/contract/runtime/serve-image-spec';
import type { GenerationRow } from '../queries.ts';
import { generationMetadata } from './generation-metadata.ts';

/** A preview costs half a step of two experts; the model server leaves out those that would come too soon. */
const PREVIEW_EVERY = 5;

/** What the model server is asked for a generation; `picture` is what it edits. The file tells how it was made. Pure. */
export function pictureRequest(row: GenerationRow, picture: Buffer | null, lora?: ImageLora): ImageRequest {
  const { generator, prompt, parameters, seed, steps } = row;
  const shared = {
    ...{ prompt, steps, seed: Number(seed), preview_every: PREVIEW_EVERY },
    metadata: generationMetadata(row),
  };
  // The models here are Paris, and the FLUX family, which edits a picture or generates from the prompt alone.
  if (generator !== 'paris')
    return kontextImageRequest.parse({
      ...shared,
      guidance: parameters.guidance_scale,
      format: 'png',
      picture: picture && picture.toString('base64'),
      lora,
    });
  return parisImageRequest.parse({
    ...shared,
    guidance: parameters.cfg_scale,
    strategy: parameters.sampling_strategy,
    k: parameters.k,
    format: parameters.output_format,
  });
}
