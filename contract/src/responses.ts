import * as z from 'zod';
import { MAX_TOKENS, PARTS_MAX, PICTURE_CHAT_BYTES_MAX, reasoningEffort, verbosity } from './chat.ts';
import { pictureAddress, pictureDetail } from './chat-pictures.ts';
import { builtInTool, customFields, functionFields, functionName, TOOLS_MAX, toolOf } from './chat-tools.ts';
import { endpoint } from './endpoint.ts';
import { chatBody } from './fields/chat-body.ts';
import { metadata } from './fields/metadata.ts';
import { modelName } from './fields/model-name.ts';

/** OpenAI's Responses API: chat answers in its format. */
const NO_CONVERSATIONS = 'this server has no conversations. Send previous_response_id, or the whole input';
const ITEMS_MAX = 2000;
const passedOver = [
  'user',
  'service_tier',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  // Sent by Codex.
  'client_metadata',
];
/** Returns the schema of an unsupported feature, which may only have this neutral value. */
const nothingBut = (name: string, value: string | boolean, sentence: string) =>
  z.literal(value, `${name}: ${sentence}`).nullish();

const part = z
  .looseObject({ type: z.string(), text: z.string().optional() })
  .refine(
    ({ type, text }) => ['input_text', 'output_text', 'text'].includes(type) && text !== undefined,
    'must be text: {"type": "input_text", "text": …}. User messages may also have pictures: {"type": "input_image", "image_url": …}',
  );
const text = z.union([z.string(), z.array(part).min(1).max(PARTS_MAX)]);
const picture = z.looseObject({
  type: z.literal('input_image'),
  image_url: pictureAddress,
  detail: pictureDetail,
});
const textAndPictures = z.union([
  z.string(),
  z
    .array(z.union([picture, part]))
    .min(1)
    .max(PARTS_MAX),
]);
const output = z.union([z.string(), z.array(part).max(PARTS_MAX)]);
const namespace = functionName.nullish();
const callId = z.string().min(1).max(200);
const responseId = z.string().min(1).max(100);

const message = z.looseObject({
  type: z.literal('message').optional(),
  role: z.enum(['system', 'developer', 'assistant']),
  content: text,
});
const userMessage = message.extend({ role: z.literal('user'), content: textAndPictures });
const functionCall = z.looseObject({
  type: z.literal('function_call'),
  call_id: callId,
  name: functionName,
  namespace,
  arguments: z.string(),
});
const functionCallOutput = z.looseObject({
  type: z.literal('function_call_output'),
  call_id: callId,
  output,
});
const customCall = z.looseObject({
  type: z.literal('custom_tool_call'),
  call_id: callId,
  name: functionName,
  namespace,
  input: z.string(),
});
const customCallOutput = z.looseObject({
  type: z.literal('custom_tool_call_output'),
  call_id: callId,
  output,
});
/** Thoughts from an earlier answer. They are not sent to the model again. */
const reasoning = z.looseObject({ type: z.literal('reasoning') });
/** An item of a stored answer. */
const itemReference = z.looseObject({ type: z.literal('item_reference'), id: z.string().min(1).max(200) });

const itemTypes = [
  ...['message', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output'],
  ...['reasoning', 'item_reference'],
];
const inputItem = z
  .looseObject({ type: z.string().optional() })
  .superRefine((item, check) => {
    const { type = 'message' } = item;
    if (itemTypes.includes(type)) return;
    check.addIssue({ code: 'custom', path: ['type'], message: `must be one of ${itemTypes.join(', ')}` });
  })
  .pipe(
    z.union([
      ...([message, userMessage, functionCall, functionCallOutput, customCall, customCallOutput] as const),
      ...([reasoning, itemReference] as const),
    ]),
  );

const functionTool = z.looseObject({ type: z.literal('function'), ...functionFields });
const customTool = z.looseObject({ type: z.literal('custom'), ...customFields });
const namedTool = toolOf((type) => (type === 'custom' ? customTool : functionTool)).pipe(
  z.union([functionTool, customTool]),
);
/** Tools under a common name. Calls of them have that name as `namespace`. */
const namespaceTool = z.looseObject({
  type: z.literal('namespace'),
  name: functionName,
  description: z.string().nullish(),
  tools: z.array(namedTool).max(TOOLS_MAX),
});
const tool = toolOf(
  (type) =>
    ({ function: functionTool, custom: customTool, namespace: namespaceTool })[String(type)] ?? builtInTool,
).pipe(z.union([functionTool, customTool, namespaceTool, builtInTool]));

export const chosenTool = z.looseObject({
  ...{ type: z.enum(['function', 'custom']), name: functionName, namespace },
});
const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  chosenTool,
  /** Limits the model to these tools. */
  z.object({
    type: z.literal('allowed_tools'),
    mode: z.enum(['auto', 'required']),
    tools: z.array(chosenTool).min(1).max(TOOLS_MAX),
  }),
]);

const format = z.looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) });

export const openAiResponse = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int(),
  status: z.enum(['completed', 'incomplete']),
  model: z.string(),
  output: z.array(z.looseObject({ type: z.string(), id: z.string() })),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }),
});

const createFields = {
  ...Object.fromEntries(passedOver.map((name) => [name, z.unknown().optional()])),
  model: modelName,
  input: z.union([z.string(), z.array(inputItem).min(1).max(ITEMS_MAX)]),
  instructions: z.string().nullish(),
  max_output_tokens: MAX_TOKENS,
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({}).nullish(),
  metadata: metadata.nullish(),
  tools: z.array(tool).max(TOOLS_MAX).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: z
    .looseObject({
      format: format.nullish(),
      verbosity,
    })
    .nullish(),
  reasoning: z.looseObject({ effort: reasoningEffort }).nullish(),
  /** Whether to store the response, so that a later one can continue it. Defaults to the server's setting. */
  store: z.boolean().nullish(),
  include: z.array(z.string()).max(20).nullish(),
  previous_response_id: responseId.nullish(),
  conversation: z.null(`conversation: ${NO_CONVERSATIONS}`).optional(),
  prompt: z.null('prompt: this server has no templates. Send instructions and an input').optional(),
  background: nothingBut('background', false, 'a response is answered at once. Leave it out'),
  /** `auto` has no effect: an input that is too long is rejected. */
  truncation: z.enum(['disabled', 'auto']).nullish(),
  top_logprobs: z.literal(0, 'top_logprobs: only POST /v1/chat/completions has them').nullish(),
};

export const responseBody = chatBody(createFields, 'text.format');

export const createResponse = endpoint({
  method: 'POST',
  path: '/v1/responses',
  access: 'key',
  scopes: ['inference'],
  summary:
    'Create a response (OpenAI-compatible). Stored for a limited time unless `store` is false; a repeated call is answered and charged again',
  body: responseBody,
  answers: { 'application/json': openAiResponse, 'text/event-stream': null },
  bodyBytesMax: PICTURE_CHAT_BYTES_MAX,
});

export const countResponseTokens = endpoint({
  method: 'POST',
  path: '/v1/responses/input_tokens',
  access: 'key',
  scopes: ['inference'],
  summary:
    "Count a response's input tokens with the model's own tokenizer and chat template (OpenAI-compatible). Free",
  body: responseBody,
  response: z.object({ object: z.literal('response.input_tokens'), input_tokens: z.int() }),
  bodyBytesMax: PICTURE_CHAT_BYTES_MAX,
});

const params = z.object({ response_id: responseId });

export const getResponse = endpoint({
  method: 'GET',
  path: '/v1/responses/:response_id',
  access: 'key',
  scopes: ['inference', 'read'],
  summary: 'Get a stored response (OpenAI-compatible)',
  params,
  response: openAiResponse,
});

export const deleteResponse = endpoint({
  method: 'DELETE',
  path: '/v1/responses/:response_id',
  access: 'key',
  scopes: ['inference'],
  summary: 'Delete a stored response (OpenAI-compatible)',
  params,
  response: z.object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) }),
});

export const listInputItems = endpoint({
  method: 'GET',
  path: '/v1/responses/:response_id/input_items',
  access: 'key',
  scopes: ['inference', 'read'],
  summary: 'List the input items of a stored response (OpenAI-compatible)',
  params,
  query: z.object({
    limit: z.coerce.number().int().min(1).max(100).optional(),
    order: z.enum(['asc', 'desc']).optional(),
    after: z.string().max(200).optional(),
  }),
  response: z.object({
    object: z.literal('list'),
    data: z.array(z.looseObject({ id: z.string(), type: z.string() })),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  }),
});
