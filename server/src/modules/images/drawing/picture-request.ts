import {
  type ImageRequest,
  kontextImageRequest,
  parisImageRequest,
} from '@bakehouse/contract/runtime/serve-image-spec';
import type { GenerationRow } from '../queries.ts';

/** A file holds no more of what it says of itself. */
const METADATA_BYTES_MAX = 8_192;

/** A preview costs half a step of two experts: this adds a tenth to the drawing. */
const PREVIEW_EVERY = 5;

/** What the model server is asked for a generation; `picture` is what it edits. The file tells how it was made. Pure. */
export function pictureRequest(row: GenerationRow, picture: Buffer | null): ImageRequest {
  const { generator, prompt, parameters, seed, steps, model, id } = row;
  const shared = {
    ...{ prompt, steps, seed: Number(seed), preview_every: PREVIEW_EVERY },
    metadata: withPrompt(prompt, {
      model,
      generation_id: id,
      ...Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)])),
    }),
  };
  // The models here are Paris, and the FLUX family, which edits a picture or draws from the prompt alone.
  if (generator !== 'paris')
    return kontextImageRequest.parse({
      ...shared,
      guidance: parameters.guidance_scale,
      format: 'png',
      picture: picture && picture.toString('base64'),
    });
  return parisImageRequest.parse({
    ...shared,
    guidance: parameters.cfg_scale,
    strategy: parameters.sampling_strategy,
    k: parameters.k,
    format: parameters.output_format,
  });
}

/** All that fits of the prompt beside the rest: every one in ASCII does. */
function withPrompt(prompt: string, rest: Record<string, string>): Record<string, string> {
  const taken = Buffer.byteLength(['prompt', ...Object.entries(rest).flat()].join(''));
  const room = Math.max(METADATA_BYTES_MAX - taken, 0);
  // As a stream it leaves out a character that is cut in two.
  const told = new TextDecoder().decode(Buffer.from(prompt).subarray(0, room), { stream: true });
  return { prompt: told, ...rest };
}
