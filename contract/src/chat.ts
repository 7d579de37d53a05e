import * as z from 'zod';
import { endpoint } from './endpoint.ts';

/** A long conversation; no more, since all of it is parsed at once. */
const CHAT_BYTES_MAX = 1024 * 1024;

/**
 * The OpenAI-compatible calls. Only what the gateway itself reads is named here; which other
 * parameters go on to the model server, modules/deployments/completion-request.ts knows.
 */
const sampling = {
  /** Name of a deployment (`model_name`), or a starter model's. */
  model: z.string().min(1, 'Name the model in `model`; GET /v1/models lists them'),
  max_tokens: z.int().min(1).max(131_072).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  n: z.int().min(1).max(1, 'This server answers one choice per request').nullish(),
};

export const chatMessage = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() })), z.null()]).optional(),
});

export const chatCompletions = endpoint({
  method: 'POST',
  path: '/v1/chat/completions',
  access: 'key',
  summary: 'Chat with a deployed model, streaming or not (OpenAI format)',
  body: z.looseObject({
    ...sampling,
    messages: z.array(chatMessage).min(1),
    max_completion_tokens: z.int().min(1).max(131_072).nullish(),
  }),
  bodyBytesMax: CHAT_BYTES_MAX,
});

export const completions = endpoint({
  method: 'POST',
  path: '/v1/completions',
  access: 'key',
  summary: 'Continue a text with a deployed model (OpenAI format)',
  body: z.looseObject({ ...sampling, prompt: z.union([z.string(), z.array(z.string()).length(1)]) }),
  bodyBytesMax: CHAT_BYTES_MAX,
});

export const openAiModel = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
  /** The base model of a fine-tune. */
  parent: z.string().nullable(),
});

export const listModels = endpoint({
  method: 'GET',
  path: '/v1/models',
  access: 'key',
  summary: 'The models that answer now (OpenAI format)',
  response: z.object({ object: z.literal('list'), data: z.array(openAiModel) }),
});

export const getModel = endpoint({
  method: 'GET',
  path: '/v1/models/:model',
  access: 'key',
  summary: 'One model (OpenAI format)',
  params: z.object({ model: z.string().min(1) }),
  response: openAiModel,
});
