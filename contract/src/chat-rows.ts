import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';

/* Conversations as rows to train on. */

/** File in a dataset that contains them. */
export const CHATS_FILE = 'chats.jsonl';
const MESSAGES_MAX = 2_000;
const TOOLS_MAX = 128;

const text = z.string('content must be text');
const toolCall = only({
  id: z.string().max(200),
  type: z.literal('function'),
  function: only({ name: z.string().min(1).max(200), arguments: z.string() }),
});

export const chatRowMessage = z.discriminatedUnion(
  'role',
  [
    only({ role: z.literal('system'), content: text }),
    only({ role: z.literal('user'), content: text }),
    only({
      role: z.literal('assistant'),
      content: text.nullable(),
      reasoning_content: z.string().optional(),
      tool_calls: z.array(toolCall).min(1).optional(),
      /** 0 if the answer is only context; 1 or absent to train on it. */
      weight: z.union([z.literal(0), z.literal(1)], 'weight must be 0 or 1').optional(),
    }),
    only({ role: z.literal('tool'), content: text, tool_call_id: z.string().max(200) }),
  ],
  'role must be system, user, assistant or tool',
);
export type ChatRowMessage = z.infer<typeof chatRowMessage>;

/** Appends to `chats.jsonl`, which fine-tuning can read; creates the file if missing. */
export const addChatRow = endpoint({
  method: 'POST',
  path: '/api/v1/asset/:id/chats',
  access: 'key',
  spends: true,
  operation: 'save the conversation as training data',
  summary: 'Add a conversation to a dataset as a row to train on',
  status: 201,
  params: z.object({ id: idOf('dataset or model') }),
  // Conversations have up to 200,000 characters with up to four bytes each.
  bodyBytesMax: 1024 * 1024,
  body: only({
    messages: z
      .array(chatRowMessage)
      .max(MESSAGES_MAX, `messages can hold at most ${MESSAGES_MAX}`)
      .refine(
        (all) => all.some((one) => one.role === 'assistant' && one.weight !== 0),
        'messages must have an answer to learn',
      ),
    /** Available functions, in the chat API's format. */
    tools: z.array(z.record(z.string(), z.unknown())).max(TOOLS_MAX).optional(),
  }),
  response: z.object({ commit_id: z.string(), file_name: z.string() }),
});
