import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { PROMPT_LENGTH_MAX } from './generations.ts';
import { PICTURES_MAX } from './generators.ts';

/** OpenAI's images API. Names that are not here are refused by name, as in `chat.ts`. */
export const createImage = endpoint({
  method: 'POST',
  path: '/v1/images/generations',
  access: 'key',
  scopes: ['inference'],
  spends: true,
  summary: 'Draw a picture (OpenAI-compatible)',
  body: z.looseObject({
    prompt: z.string().trim().min(1, 'Please enter a prompt').max(PROMPT_LENGTH_MAX),
    /** A name that `GET /v1/models` lists with task `image`; the starter's unless said. */
    model: z.string().min(1).max(200).nullish(),
    n: z.int().min(1).max(PICTURES_MAX).nullish(),
    size: z.string().max(20).nullish(),
    response_format: z.enum(['url', 'b64_json']).nullish(),
    output_format: z.enum(['png', 'jpeg', 'webp']).nullish(),
    user: z.string().max(200).nullish(),
  }),
  response: z.object({
    created: z.int(),
    data: z.array(
      z.object({
        b64_json: z.string().optional(),
        url: z.string().optional(),
        revised_prompt: z.string().optional(),
      }),
    ),
  }),
});
