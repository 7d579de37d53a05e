import * as z from 'zod';
import { endpoint, type ResponseOf } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';

/** Conversations of a user that are kept, with all models; the ones that were saved longest ago go first. */
export const CONVERSATIONS_MAX = 500;
/** Bytes of all conversations of a user; where there are more, the same go. */
export const CONVERSATIONS_BYTES_MAX = 20 * 1024 * 1024;
/** Characters of the turns of one, as JSON: of a longer one the app keeps the newest. */
export const TURNS_LENGTH_MAX = 200_000;

/** Of which the next one is still an integer of the database. */
const VERSION_MAX = 2 ** 31 - 2;

const number = z.number().nullable();
const callId = z.string().max(200);
const turn = z.object({
  role: z.enum(['user', 'assistant']),
  content: z.string(),
  /** Of an answer: the functions that the model calls. */
  calls: z.array(z.object({ id: callId, name: z.string(), arguments: z.string() })).optional(),
  /** What the calls of the answer before came to, in place of a question. */
  results: z.array(z.object({ id: callId, name: z.string(), content: z.string() })).optional(),
  thoughts: z.string().optional(),
  /** How the answer came: milliseconds to its first token, tokens, tokens per second after the first. */
  speed: z.object({ firstTokenMs: z.number(), tokens: z.number(), tokensPerSecond: number }).optional(),
  /** What ended an answer before the model did. */
  cut: z.enum(['maximum', 'context']).optional(),
  /** It is an answer that was stopped, or broke off. */
  interrupted: z.boolean().optional(),
});

const conversation = z.object({
  turns: z.array(turn),
  /** The last question, if it has no answer yet; otherwise empty. */
  unanswered: z.string(),
  settings: z.object({
    system: z.string(),
    /** The functions as they are typed, a JSON list; `required`: a question is answered by a call. */
    tools: z.object({ definitions: z.string(), required: z.boolean() }).optional(),
    /** Null: the field is empty. */
    options: z.object({
      temperature: number,
      max_tokens: number,
      top_p: z.number().optional(),
      seed: z.number().optional(),
    }),
  }),
});
export type Conversation = z.infer<typeof conversation>;

/** `model`: the id of a text deployment, or the name of a starter model. */
const withModel = z.object({ model: z.string().min(1, 'model is required').max(200) });
/** `id`: its client chooses one that it has not used with this model. */
const query = withModel.extend({ id: idOf('conversation') });

export const listConversations = endpoint({
  method: 'GET',
  path: '/api/v1/conversations',
  access: 'key',
  scopes: [],
  summary:
    'List the conversations with a model in which something was asked; the one that was saved last comes first',
  operation: 'load your conversations',
  query: withModel,
  response: z.object({
    conversations: z.array(
      z.object({
        id: z.string(),
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
  summary: 'Get a conversation with a model; without an id the one that was saved last',
  operation: 'load the conversation',
  query: query.partial({ id: true }),
  response: z.object({
    /** Null: there is none. */
    id: z.string().nullable(),
    /** Of an id under which none is kept: empty, with the settings of the newest with this model; null without that. */
    conversation: conversation.nullable(),
    /** Counts how often it was saved; 0 for none. */
    version: z.int(),
    /** That of the last save; null for none. */
    save_id: z.string().nullable(),
    /** Whether this installation keeps conversations. */
    is_kept: z.boolean(),
  }),
});

export const saveConversation = endpoint({
  method: 'PUT',
  path: '/api/v1/conversation',
  access: 'key',
  summary: 'Save a conversation; 409 if another tab or device has saved it since `version`',
  operation: 'save the conversation',
  // Each character of the turns, of the system prompt and of a question may have four bytes.
  bodyBytesMax: 1024 * 1024,
  query,
  body: only({
    version: z.int().min(0).max(VERSION_MAX),
    /** A new one for each save: a client that got no answer finds by it whether the save has come. */
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
