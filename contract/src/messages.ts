import * as z from 'zod';
import { PICTURE_CHAT_BYTES_MAX } from './chat.ts';
import { pictureAddress } from './chat-pictures.ts';
import { TOOLS_MAX, toolOf } from './chat-tools.ts';
import { endpoint } from './endpoint.ts';
import { chatBody } from './fields/chat-body.ts';
import { modelName } from './fields/model-name.ts';

/** Anthropic's Messages API: chat answers in its format. */
const MESSAGES_MAX = 2000;
const BLOCKS_MAX = 500;
const STOPS_MAX = 16;
/** Long, because coding agents describe tools over pages. */

const toolName = z
  .string()
  .regex(/^[a-zA-Z0-9_-]{1,128}$/, 'must be 1 to 128 letters, digits, underscores and dashes');
const toolId = z.string().min(1).max(200);
/** Has no effect here. */
const ignored = z.unknown().optional();
/** Rejects an unsupported feature, unless its value is null. */
const absent = (name: string, sentence: string) => z.null(`${name}: ${sentence}`).optional();

export const textBlock = z.looseObject({ type: z.literal('text'), text: z.string() });
type Block = z.ZodObject<{ type: z.ZodLiteral<string> }, z.core.$loose>;
const unread = ['image', 'search_result', 'container_upload'];

function blockOf<const Schemas extends readonly [Block, ...Block[]]>(where: string, schemas: Schemas) {
  const types = schemas.map((schema) => schema.shape.type.value).join(' or ');
  return z.discriminatedUnion('type', schemas, {
    error: ({ input }) => {
      const { type } = (input ?? {}) as { type?: unknown };
      if (typeof type !== 'string') return undefined;
      const why = unread.includes(type) ? 'cannot be read here' : `is no block of ${where}`;
      return `must be ${types}: '${type.slice(0, 40)}' ${why}`;
    },
  });
}

/** A plain text counts as one text block. */
const contentOf = <B extends z.ZodType>(block: B, { least }: { least: 0 | 1 } = { least: 1 }) =>
  z
    .preprocess(
      (content) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content),
      z.array(block).min(least).max(BLOCKS_MAX),
    )
    .meta({ description: 'Or a plain string' });

const ONLY_TEXT = "must be 'text' or 'content': only the text of a document can be read here";
export const documentBlock = z.looseObject({
  type: z.literal('document'),
  source: z.discriminatedUnion(
    'type',
    [
      z.looseObject({ type: z.literal('text'), data: z.string() }),
      z.looseObject({ type: z.literal('content'), content: contentOf(blockOf('a document', [textBlock])) }),
    ],
    ONLY_TEXT,
  ),
  title: z.string().nullish(),
  context: z.string().nullish(),
});
export const imageBlock = z.looseObject({
  type: z.literal('image'),
  source: z.discriminatedUnion(
    'type',
    [
      z.looseObject({ type: z.literal('base64'), media_type: z.string().max(100), data: pictureAddress }),
      z.looseObject({ type: z.literal('url'), url: pictureAddress }),
    ],
    "must be 'base64' or 'url': send the picture or its address",
  ),
});
/** Makes a deferred tool available from this point. */
const toolReference = z.looseObject({ type: z.literal('tool_reference'), tool_name: toolName });
export const toolResult = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: toolId,
  content: contentOf(blockOf('a tool_result', [textBlock, documentBlock, toolReference]), {
    least: 0,
  }).optional(),
  is_error: z.boolean().nullish(),
});
const toolUse = z.looseObject({
  type: z.literal('tool_use'),
  id: toolId,
  name: toolName,
  input: z.record(z.string(), z.unknown()),
});
/** Thoughts from an earlier answer. They are not sent to the model again. */
const thinkingBlock = z.looseObject({ type: z.literal('thinking') });
const redactedBlock = z.looseObject({ type: z.literal('redacted_thinking') });
export const anthropicToolName = z.looseObject({
  type: z.literal('tool_reference', "must be 'tool_reference': a tool is defined in 'tools'"),
  name: toolName,
});
const toolAddition = z.looseObject({ type: z.literal('tool_addition'), tool: anthropicToolName });
const toolRemoval = z.looseObject({ type: z.literal('tool_removal'), tool: anthropicToolName });

const userContent = blockOf('a user turn', [textBlock, imageBlock, toolResult, documentBlock]);
const assistantContent = blockOf('an assistant turn', [textBlock, toolUse, thinkingBlock, redactedBlock]);
const systemContent = blockOf('a system turn', [textBlock, toolAddition, toolRemoval]);
export const anthropicMessage = z.discriminatedUnion(
  'role',
  [
    z.looseObject({ role: z.literal('user'), content: contentOf(userContent) }),
    z.looseObject({ role: z.literal('assistant'), content: contentOf(assistantContent) }),
    z.looseObject({ role: z.literal('system'), content: contentOf(systemContent) }),
  ],
  {
    error: ({ code }) => (code === 'invalid_union' ? "must be 'user', 'assistant' or 'system'" : undefined),
  },
);

const customTool = z.looseObject({
  type: z.literal('custom').nullish(),
  name: toolName,
  description: z.string().nullish(),
  /** A JSON Schema of an object. */
  input_schema: z.record(z.string(), z.unknown()),
  /**
   * With true, the arguments of calls must match the schema; the request is rejected if that is not possible.
   */
  strict: z.boolean().nullish(),
  /** The model does not see the tool until a `tool_reference` names it. */
  defer_loading: z.boolean().nullish(),
});
/**
 * A tool that Anthropic runs, such as `web_search_20250305`. It is ignored and named in a response header.
 */
const builtInTool = z.looseObject({ type: z.string() });
const tool = toolOf((type) =>
  typeof type === 'string' && type !== 'custom' ? builtInTool : customTool,
).pipe(z.union([customTool, builtInTool]));

export const anthropicToolChoice = z.looseObject({
  type: z.enum(['auto', 'any', 'tool', 'none']),
  name: toolName.nullish(),
  /** With a required call, the model makes a single call unless this is false. */
  disable_parallel_tool_use: z.boolean().nullish(),
});
export const thinking = z.looseObject({
  type: z.enum(['enabled', 'disabled', 'adaptive', 'between_tools']),
  budget_tokens: z.int().min(1024).max(131_072).nullish(),
});
export const outputConfig = z.looseObject({
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  format: z
    .looseObject({ type: z.literal('json_schema'), schema: z.record(z.string(), z.unknown()) })
    .nullish(),
});

const conversation = {
  model: modelName,
  messages: z.array(anthropicMessage).min(1).max(MESSAGES_MAX),
  system: contentOf(blockOf('a system prompt', [textBlock]), { least: 0 }).nullish(),
  tools: z.array(tool).max(TOOLS_MAX).nullish(),
  tool_choice: anthropicToolChoice.nullish(),
  /** Only used by reasoning models. */
  thinking: thinking.nullish(),
  output_config: outputConfig.nullish(),
  cache_control: ignored,
  context_management: z
    .looseObject({
      edits: z
        .array(
          z.looseObject({
            type: z
              .string()
              .startsWith('clear_thinking', 'must be left out: nothing is cut out of a conversation here'),
          }),
        )
        .max(BLOCKS_MAX)
        .nullish(),
    })
    .nullish(),
  mcp_servers: z.array(z.unknown()).max(0, 'mcp_servers: this server calls none. Send their tools').nullish(),
};

/** Accepts all fields, because programs send the same body for counting as for answering. */
const countedFields = { ...conversation, max_tokens: ignored, stop_sequences: ignored };

const usage = z.looseObject({ input_tokens: z.int(), output_tokens: z.int() });

/** The shape of these calls' errors. */
export const anthropicError = z.object({
  type: z.literal('error'),
  error: z.object({
    ...{ type: z.string(), message: z.string() },
    /** Code for errors that clients handle themselves. */
    details: z.object({ error_code: z.string() }).optional(),
  }),
  request_id: z.string(),
});

export const anthropicAnswer = z.object({
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string(),
  content: z.array(z.looseObject({ type: z.enum(['text', 'thinking', 'tool_use']) })),
  stop_reason: z.enum([
    'end_turn',
    'max_tokens',
    'stop_sequence',
    'tool_use',
    'model_context_window_exceeded',
  ]),
  stop_sequence: z.string().nullable(),
  usage,
});

export const createMessage = endpoint({
  method: 'POST',
  path: '/v1/messages',
  access: 'key',
  scopes: ['inference'],
  summary:
    'Create a message (Anthropic-compatible). Answers are not stored: a repeated call is answered and charged again',
  body: chatBody(
    {
      ...conversation,
      max_tokens: z.int().min(1).max(1_000_000),
      stream: z.boolean().nullish(),
      stop_sequences: z.array(z.string().min(1).max(256)).max(STOPS_MAX).nullish(),
      temperature: z.number().min(0).max(1).nullish(),
      top_p: z.number().min(0).max(1).nullish(),
      top_k: z.int().min(0).max(131_072).nullish(),
      ...{ metadata: ignored, service_tier: ignored, inference_geo: ignored, diagnostics: ignored },
      speed: z.literal('standard', 'speed: there is one. Leave it out').nullish(),
      thread: absent('thread', 'this server holds no conversations. Leave it out, and send all messages'),
      container: absent('container', 'this server runs no code. Leave it out'),
    },
    'output_config.format',
  ),
  error: anthropicError,
  answers: { 'application/json': anthropicAnswer, 'text/event-stream': null },
  bodyBytesMax: PICTURE_CHAT_BYTES_MAX,
});

export const countTokens = endpoint({
  method: 'POST',
  path: '/v1/messages/count_tokens',
  access: 'key',
  scopes: ['inference'],
  summary:
    "Count a message's input tokens with the model's own tokenizer and chat template (Anthropic-compatible). Free",
  body: chatBody(countedFields, 'output_config.format'),
  error: anthropicError,
  response: z.object({ input_tokens: z.int() }),
  bodyBytesMax: PICTURE_CHAT_BYTES_MAX,
});
