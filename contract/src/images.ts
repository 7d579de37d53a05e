import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { promptText } from './generations.ts';

/** OpenAI's images API. Names that are not here are refused by name, as in `chat.ts`. */
export const createImage = endpoint({
  method: 'POST',
  path: '/v1/images/generations',
  access: 'key',
  scopes: ['inference'],
  spends: true,
  summary: 'Draw a picture (OpenAI-compatible)',
  body: z.looseObject({
    prompt: promptText,
    /** A name that `GET /v1/models` lists; the starter's unless said. */
    model: z.string().min(1).max(200).nullish(),
    n: z.int().min(1).max(1, 'n: this server draws one picture per request').nullish(),
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
