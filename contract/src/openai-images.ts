import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { modelName } from './fields/model-name.ts';
import { promptText } from './generations.ts';
import { PICTURES_MAX } from './generators.ts';

export const imagesAnswer = z.object({
  created: z.int(),
  /** Actual size of the pictures, such as `128x128`, even if another size was requested. */
  size: z.string().optional(),
  /** Actual format: `png`, `jpeg` or `webp`. */
  output_format: z.string().optional(),
  data: z.array(
    z.object({
      b64_json: z.string().optional(),
      url: z.string().optional(),
      revised_prompt: z.string().optional(),
    }),
  ),
});

/** OpenAI's images API. As in `chat.ts`, unknown parameters are rejected by name unless they are null. */
export const createImage = endpoint({
  method: 'POST',
  path: '/v1/images/generations',
  access: 'key',
  scopes: ['inference'],
  spends: true,
  summary: 'Generate an image (OpenAI-compatible)',
  body: z.looseObject({
    prompt: promptText,
    /**
     * The `model_name` of the caller's image deployment, or a service's generator. Defaults to Paris, the
     * starter.
     */
    model: modelName.nullish(),
    n: z.int().min(1).max(PICTURES_MAX).nullish(),
    /**
     * `auto`, or a size in a supported shape. The model decides the pixels; the answer has the actual size.
     */
    size: z.string().max(20).nullish(),
    /** `auto`, `standard` or `medium`, which have the same meaning here. */
    quality: z.string().max(20).nullish(),
    response_format: z.enum(['url', 'b64_json']).nullish(),
    output_format: z.enum(['png', 'jpeg', 'webp']).nullish(),
    user: z.string().max(200).nullish(),
    /** The same parameters as in `POST /api/v1/generations`, if the chosen model supports them. */
    seed: z.number().nullish(),
    num_inference_steps: z.number().nullish(),
    guidance_scale: z.number().nullish(),
  }),
  response: imagesAnswer,
});

/** The other parts of the form besides the picture. */
export const editImageFields = z.looseObject({
  prompt: promptText,
  /**
   * The `model_name` of the caller's Kontext deployment, or `flux-kontext` if a service edits. Defaults to
   * the starter.
   */
  model: modelName.optional(),
  n: z.coerce.number().int().min(1).max(1, 'n: this server generates one picture per request').optional(),
  size: z.string().max(20).optional(),
  quality: z.string().max(20).optional(),
  response_format: z.enum(['url', 'b64_json']).optional(),
  output_format: z.literal('png', 'output_format: edits are PNG files').optional(),
  user: z.string().max(200).optional(),
  /** The same parameters as in `POST /api/v1/generations`, if the chosen model supports them. */
  seed: z.coerce.number().optional(),
  num_inference_steps: z.coerce.number().optional(),
  guidance_scale: z.coerce.number().optional(),
});

export const editImage = endpoint({
  method: 'POST',
  path: '/v1/images/edits',
  access: 'key',
  scopes: ['inference'],
  spends: true,
  summary: 'Edit an image (OpenAI-compatible)',
  /** Where the mask, a picture of the same size, is transparent, the image changes. */
  upload: { part: 'image', optionalPart: 'mask', fields: editImageFields },
  isHeldInMemory: true,
  response: imagesAnswer,
});
