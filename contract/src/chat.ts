import * as z from 'zod';
import { CHAT_PICTURES_ENCODED_MAX, pictureAddress, pictureDetail } from './chat-pictures.ts';
import { anyCall, messageOfTools, toolParameters } from './chat-tools.ts';
import { endpoint } from './endpoint.ts';
import { chatBody } from './fields/chat-body.ts';
import { modelName } from './fields/model-name.ts';

/** Enough for a long conversation. Not larger, because the whole body is parsed synchronously. */
export const CHAT_BYTES_MAX = 1024 * 1024;
/** With pictures in base64. The rest of the body has at most `CHAT_BYTES_MAX`. */
export const PICTURE_CHAT_BYTES_MAX: number = CHAT_BYTES_MAX + CHAT_PICTURES_ENCODED_MAX;

/**
 * The OpenAI-compatible calls. Limits every parameter, so that one request cannot exhaust shared time or
 * memory. The schemas of `response_format` and tools are limited in modules/chat/body.
 */
const STOPS_MAX = 16;
const STOP_LENGTH_MAX = 256;
const BIASED_TOKENS_MAX = 300;
/** Small, because choices are generated one after another. */
const CHOICES_MAX = 8;
const PROMPTS_MAX = 64;
/** Of content parts in a message. */
export const PARTS_MAX = 2000;
export const MAX_TOKENS = z.int().min(1).max(131_072).nullish();
const penalty = z.number().min(-2).max(2).nullish();
const share = z.number().min(0).max(1).nullish();
const stop = z.string().min(1).max(STOP_LENGTH_MAX);

/** Ignored by models without reasoning levels. */
export const reasoningEffort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish();
export const verbosity = z.enum(['low', 'medium', 'high']).nullish();

const sampling = {
  /** Name of a deployment (`model_name`) or starter model. */
  model: modelName,
  max_tokens: MAX_TOKENS,
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.int().min(1).max(CHOICES_MAX).nullish(),
  stop: z.union([stop, z.array(stop).max(STOPS_MAX)]).nullish(),
  seed: z.int().nullish(),
  /** By token id. */
  logit_bias: z
    .record(
      z.string().regex(/^\d{1,7}$/, 'logit_bias: its keys are token ids'),
      z.number().min(-100).max(100),
    )
    .refine(
      (bias) => Object.keys(bias).length <= BIASED_TOKENS_MAX,
      `logit_bias: at most ${BIASED_TOKENS_MAX} tokens`,
    )
    .nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: share,
  top_k: z.int().min(-1).max(131_072).nullish(),
  min_p: share,
  typical_p: share,
  presence_penalty: penalty,
  frequency_penalty: penalty,
  /** The names that vLLM and llama.cpp use for the same parameter. */
  repetition_penalty: z.number().min(0.1).max(10).nullish(),
  repeat_penalty: z.number().min(0.1).max(10).nullish(),
  response_format: z.looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) }).nullish(),
};

/** Parameters that only affect OpenAI's own service, not the answer. */
const passedOver = Object.fromEntries(
  [
    ...[
      'user',
      'metadata',
      'service_tier',
      'safety_identifier',
      'prompt_cache_key',
      'prompt_cache_retention',
    ],
    ...['prompt_cache_options', 'prediction', 'store'],
  ].map((name) => [name, z.unknown().optional()]),
);

/** Rejects unknown parameters, because ignoring them would mislead callers. Null counts as not sent. */
export const unknownParameter: z.ZodType = z.null('must be left out: this call does not know it');

const contentPart = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  image_url: z.looseObject({ url: pictureAddress, detail: pictureDetail }).optional(),
});

const chatMessage = z
  .looseObject({
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
    content: z.union([z.string(), z.array(contentPart).max(PARTS_MAX), z.null()]).optional(),
    ...messageOfTools,
  })
  .superRefine(({ role, content }, check) => {
    if (!Array.isArray(content)) return;
    if (content.length === 0 && role !== 'assistant' && role !== 'tool')
      check.addIssue({ code: 'custom', path: ['content'], message: 'must have at least 1 item' });
    for (const [index, part] of content.entries()) {
      if (part.type === 'text' && part.text !== undefined && !part.image_url) continue;
      if (part.type === 'image_url' && part.image_url && role === 'user') continue;
      const messages: Record<string, string> = {
        text: 'A text part has its words in `text`, and no `image_url`',
        image_url: 'Only user messages have pictures, as {"type": "image_url", "image_url": {"url": …}}',
      };
      const message =
        messages[part.type] ??
        `Content parts of type '${part.type.slice(0, 40)}' cannot be read here: send text or image_url`;
      check.addIssue({ code: 'custom', path: ['content', index], message });
    }
  });

export const tokenUsage = z.object({
  ...{ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() },
});
const finished = {
  created: z.int(),
  model: z.string(),
  usage: tokenUsage,
};
const tokenLogprob = z.looseObject({ token: z.string(), logprob: z.number() });

export const chatCompletion = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  ...finished,
  choices: z.array(
    z.object({
      index: z.int(),
      message: z.object({
        role: z.literal('assistant'),
        /** Null if the model only called tools. */
        content: z.string().nullable(),
        reasoning_content: z.string().optional(),
        tool_calls: z.array(anyCall).optional(),
      }),
      logprobs: z
        .object({ content: z.array(tokenLogprob.extend({ top_logprobs: z.array(tokenLogprob) })) })
        .nullable(),
      finish_reason: z.string().nullable(),
    }),
  ),
});

export const textCompletion = z.object({
  id: z.string(),
  object: z.literal('text_completion'),
  ...finished,
  choices: z.array(
    z.object({
      index: z.int(),
      text: z.string(),
      logprobs: z
        .looseObject({ tokens: z.array(z.string()), token_logprobs: z.array(z.number().nullable()) })
        .nullable(),
      finish_reason: z.string().nullable(),
    }),
  ),
});

/** Accepted because OpenAI's clients may send an Idempotency-Key with retries. */
const NOT_STORED =
  'Answers are not stored: a repeated call with the same Idempotency-Key is answered and charged again';

export const chatCompletions = endpoint({
  method: 'POST',
  path: '/v1/chat/completions',
  access: 'key',
  scopes: ['inference'],
  summary: `Create a chat completion (OpenAI-compatible). ${NOT_STORED}`,
  body: chatBody(
    {
      ...passedOver,
      ...sampling,
      messages: z.array(chatMessage).min(1).max(2000),
      max_completion_tokens: MAX_TOKENS,
      logprobs: z.boolean().nullish(),
      top_logprobs: z.int().min(0).max(20).nullish(),
      ...toolParameters,
      reasoning_effort: reasoningEffort,
      verbosity,
      modalities: z.array(z.literal('text', 'modalities: this server answers in text')).nullish(),
      /** Variables of the model's own chat template. */
      chat_template_kwargs: z.strictObject({ enable_thinking: z.boolean().optional() }).nullish(),
    },
    'response_format',
  ),
  answers: { 'application/json': chatCompletion, 'text/event-stream': null },
  bodyBytesMax: PICTURE_CHAT_BYTES_MAX,
});

const EVALUATION = 'prompts are not scored here: only new tokens have log-probabilities. Leave it out';

const promptTokens = z.array(z.int().min(0)).min(1).max(131_072);

export const completions = endpoint({
  method: 'POST',
  path: '/v1/completions',
  access: 'key',
  scopes: ['inference'],
  summary: `Create a text completion (OpenAI-compatible). ${NOT_STORED}`,
  body: chatBody(
    {
      ...passedOver,
      ...sampling,
      /** A text or its token ids. Several texts, or several lists of token ids, are answered in order. */
      prompt: z.union([
        z.string(),
        z.array(z.string()).min(1).max(PROMPTS_MAX),
        promptTokens,
        z.array(promptTokens).min(1).max(PROMPTS_MAX),
      ]),
      /** Number of candidates to return for each token. */
      logprobs: z.int().min(0).max(5).nullish(),
      echo: z.literal(false, `echo: ${EVALUATION}`).nullish(),
      suffix: z.literal('', 'suffix: this server continues texts, and does not fill gaps').nullish(),
      best_of: z.literal(1, 'best_of: this server answers what it writes, and chooses none. Use n').nullish(),
    },
    'response_format',
  ),
  answers: { 'application/json': textCompletion, 'text/event-stream': null },
  bodyBytesMax: CHAT_BYTES_MAX,
});

export const openAiModel = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
  /** What the model returns: chat and completion answers, embeddings, pictures, or videos. */
  task: z.enum(['text', 'embedding', 'image', 'video']),
  /** The base model of a fine-tune. */
  parent: z.string().nullable(),
  /** True if it reads pictures in chats. False for a fine-tune that was never deployed. */
  vision: z.boolean(),
  /** Field of Anthropic's API, if the request has an anthropic-version header. */
  type: z.literal('model').optional(),
  display_name: z.string().optional(),
  created_at: z.string().optional(),
});

export const listModels = endpoint({
  method: 'GET',
  path: '/v1/models',
  access: 'key',
  scopes: ['inference', 'read'],
  summary: 'List available models (OpenAI-compatible)',
  response: z.object({
    object: z.literal('list'),
    data: z.array(openAiModel),
    /** Fields of Anthropic's API, if the request has an anthropic-version header. */
    has_more: z.literal(false).optional(),
    first_id: z.string().nullish(),
    last_id: z.string().nullish(),
  }),
});

export const getModel = endpoint({
  method: 'GET',
  path: '/v1/models/:model',
  access: 'key',
  scopes: ['inference', 'read'],
  summary: 'Get a model (OpenAI-compatible)',
  params: z.object({ model: modelName }),
  response: openAiModel,
});

export const deleteModel = endpoint({
  method: 'DELETE',
  path: '/v1/models/:model',
  access: 'key',
  summary: 'Delete a fine-tune of the caller (OpenAI-compatible)',
  params: z.object({ model: modelName }),
  response: z.object({ id: z.string(), object: z.literal('model'), deleted: z.literal(true) }),
});
