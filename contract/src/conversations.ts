import * as z from 'zod';
import { endpoint, type ResponseOf } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';

/** Maximum number of a user's conversations with all models. The ones saved longest ago are deleted first. */
export const CONVERSATIONS_MAX = 500;
/** Maximum bytes of a user's conversations; those saved longest ago are deleted first. */
export const CONVERSATIONS_BYTES_MAX = 20 * 1024 * 1024;
/**
 * Maximum characters of a conversation's turns as JSON; the app stores only the newest turns of a longer one.
 */
export const TURNS_LENGTH_MAX = 200_000;

/** Less than the maximum of a database integer, so that the next version still fits. */
const VERSION_MAX = 2 ** 31 - 2;

const number = z.number().nullable();
const callId = z.string().max(200);
export const conversationTurn = z.object({
  role: z.enum(['user', 'assistant']),
  content: z.string(),
  /** For answers: the function calls of the model. */
  calls: z.array(z.object({ id: callId, name: z.string(), arguments: z.string() })).optional(),
  /** Results of the calls in the previous answer. Present instead of a question. */
  results: z.array(z.object({ id: callId, name: z.string(), content: z.string() })).optional(),
  thoughts: z.string().optional(),
  /** Speed of the answer: milliseconds to its first token, tokens, and tokens per second after the first. */
  speed: z.object({ firstTokenMs: z.number(), tokens: z.number(), tokensPerSecond: number }).optional(),
  /** The limit that cut the answer off. */
  cut: z.enum(['maximum', 'context']).optional(),
  /** True if the answer was stopped or failed before its end. */
  interrupted: z.boolean().optional(),
});

export const conversation = z.object({
  turns: z.array(conversationTurn),
  /** The last question, if it has no answer yet; otherwise empty. */
  unanswered: z.string(),
  settings: z.object({
    system: z.string(),
    /**
     * Function definitions, as the user typed them (a JSON list). With `required`, the model must call one.
     */
    tools: z.object({ definitions: z.string(), required: z.boolean() }).optional(),
    /** Null for an empty field. */
    options: z.object({
      temperature: number,
      max_tokens: number,
      top_p: z.number().optional(),
      seed: z.number().optional(),
    }),
  }),
});
export type Conversation = z.infer<typeof conversation>;

/** `model` is the id of a text deployment or the name of a starter model. */
const withModel = z.object({ model: z.string().min(1, 'model is required').max(200) });
/** `id` is chosen by the client and unique per model. Two models with the same id are compared. */
const query = withModel.extend({ id: idOf('conversation') });

export const listConversations = endpoint({
  method: 'GET',
  path: '/api/v1/conversations',
  access: 'key',
  scopes: [],
  summary: 'List the non-empty conversations, of one model or all, last saved first',
  operation: 'load your conversations',
  query: withModel.partial(),
  response: z.object({
    conversations: z.array(
      z.object({
        id: z.string(),
        model: z.string(),
        /** The beginning of its first question. */
        title: z.string(),
        saved_at: z.string(),
      }),
    ),
  }),
});
export type ConversationRow = ResponseOf<typeof listConversations>['conversations'][number];

export const getConversation = endpoint({
  method: 'GET',
  path: '/api/v1/conversation',
  access: 'key',
  scopes: [],
  summary: 'Get a conversation with a model; defaults to the last saved one',
  operation: 'load the conversation',
  query: query.partial({ id: true }),
  response: z.object({
    /** Null if there is none. */
    id: z.string().nullable(),
    /** For an unknown id: an empty one with the model's newest settings, or null if there are none. */
    conversation: conversation.nullable(),
    /** How often the conversation was saved; 0 if never. */
    version: z.int(),
    /** Id of the last save; null if it was never saved. */
    save_id: z.string().nullable(),
    /** Whether this server stores conversations. */
    is_kept: z.boolean(),
  }),
});

export const saveConversation = endpoint({
  method: 'PUT',
  path: '/api/v1/conversation',
  access: 'key',
  summary: 'Save a conversation; 409 if another tab or device has saved it since `version`',
  operation: 'save the conversation',
  // Each character of turns, system prompt and question may have four bytes.
  bodyBytesMax: 1024 * 1024,
  query,
  body: only({
    version: z.int().min(0).max(VERSION_MAX),
    /**
     * A new id for each save. A client that got no answer compares it to find out whether the save succeeded.
     */
    save_id: z.uuid('save_id must be a UUID'),
    conversation,
  }),
  response: z.object({ version: z.int() }),
});

export const deleteConversation = endpoint({
  method: 'DELETE',
  path: '/api/v1/conversation',
  access: 'key',
  summary: 'Delete a conversation',
  operation: 'delete the conversation',
  query,
  status: 204,
});
