import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { modelName } from './fields/model-name.ts';

/** OpenAI's limits. */
const INPUTS_MAX = 2048;
const TOKENS_MAX = 300_000;
const BODY_BYTES_MAX = 4 * 1024 * 1024;

/** Refuses unknown parameters, because ignoring them would mislead. Clients send null for unset ones. */
const unknownParameter: z.ZodType = z.null('must be left out: this call does not know it');

const text = z.string().min(1, 'An input cannot be an empty text');
const tokens = z.array(z.int().min(0)).min(1, 'An input cannot be empty').max(131_072);
const many = `At most ${INPUTS_MAX} inputs in one request. Send the others in another`;

export const createEmbeddings = endpoint({
  method: 'POST',
  path: '/v1/embeddings',
  access: 'key',
  scopes: ['inference'],
  summary: 'Create embeddings (OpenAI-compatible)',
  body: z
    .object({
      /** Name of an embedding deployment (`model_name`) or starter model. */
      model: modelName,
      /**
       * One text or several, or token ids of the model's tokenizer, which must include start and end tokens.
       */
      input: z.union([
        text,
        z.array(text).min(1, 'There is no input').max(INPUTS_MAX, many),
        tokens,
        z
          .array(tokens)
          .min(1)
          .max(INPUTS_MAX, many)
          .refine(
            (inputs) => inputs.reduce((sum, { length }) => sum + length, 0) <= TOKENS_MAX,
            `At most ${TOKENS_MAX} tokens in one request`,
          ),
      ]),
      /** Number of dimensions to which the embeddings are truncated, if the model supports it. */
      dimensions: z.int().min(1).max(65_536).nullish(),
      /** With base64, an embedding is encoded as little-endian 32-bit floats. */
      encoding_format: z.enum(['float', 'base64'], 'encoding_format must be float or base64').nullish(),
      user: z.unknown().optional(),
    })
    .catchall(unknownParameter),
  response: z.object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    model: z.string(),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  }),
  bodyBytesMax: BODY_BYTES_MAX,
});
