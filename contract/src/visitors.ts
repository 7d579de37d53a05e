import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { text } from './fields/text.ts';
import { generationStates, promptText } from './generations.ts';
import { tooLong } from './labels.ts';

/*
 * Lets visitors try the landing page without an account. The server pays from a daily budget. A picture
 * that no user claims is deleted after an hour.
 */

/** Short, because the starter models understand only few words. */
export const VISITOR_PROMPT_LENGTH_MAX = 300;
export const VISITOR_QUESTION_LENGTH_MAX = 500;
/** Maximum earlier turns used as context. */
export const VISITOR_TURNS_MAX = 8;

const state = z.enum(['ready', 'preparing', 'off']);

export const getVisitorTries = endpoint({
  method: 'GET',
  path: '/api/v1/visitors/tries',
  access: 'public',
  summary: 'List the starters that visitors can try without an account',
  response: z.object({
    /** `preparing` while the starter model is downloaded or created; `off` if trying is not available. */
    picture: state,
    chat: state,
    /** The starter model that answers. */
    chat_model: z.string(),
  }),
});
export type VisitorTryState = z.infer<typeof state>;

/** Token that is required to open the picture. It is valid for an hour. */
const token = z.string().max(128);

export const visitorPicture = z.object({
  token: z.string(),
  prompt: z.string(),
  state: z.enum(generationStates),
  /** Why it is in this state. */
  reason: z.string(),
  step: z.int(),
  steps: z.int(),
  /** A preview as a `data:` URL; null if there is none, and once it is completed. */
  preview: z.string().nullable(),
  /** Null until completed. */
  url: z.string().nullable(),
});
export type VisitorPicture = z.infer<typeof visitorPicture>;

export const startVisitorPicture = endpoint({
  method: 'POST',
  path: '/api/v1/visitors/pictures',
  access: 'public',
  operation: 'generate the picture',
  summary: 'Generate a picture with the starter model, without an account',
  body: only({
    prompt: promptText.max(VISITOR_PROMPT_LENGTH_MAX, tooLong('Prompt', VISITOR_PROMPT_LENGTH_MAX)),
  }),
  response: visitorPicture,
});

export const getVisitorPicture = endpoint({
  method: 'GET',
  path: '/api/v1/visitors/pictures/:token',
  access: 'public',
  operation: 'load the picture',
  summary: 'Get a picture that was generated without an account',
  params: z.object({ token }),
  response: visitorPicture,
});

export const claimVisitorPicture = endpoint({
  method: 'POST',
  path: '/api/v1/visitors/pictures/:token/keep',
  access: 'key',
  operation: 'keep the picture',
  summary: 'Move a picture that was generated without an account to your gallery, free of charge',
  params: z.object({ token }),
  response: z.object({ generation_id: idOf('generation') }),
});

const turn = only({
  role: z.enum(['user', 'assistant']),
  content: z.string().max(4_000),
});

export const askAsVisitor = endpoint({
  method: 'POST',
  path: '/api/v1/visitors/chat',
  access: 'public',
  operation: 'ask the model',
  summary: 'Ask the starter language model, without an account; streams as chat completions do',
  answers: { 'text/event-stream': null },
  body: only({
    question: text('Question', VISITOR_QUESTION_LENGTH_MAX).min(1, 'Please enter a question'),
    /** Earlier turns. */
    turns: z.array(turn).max(VISITOR_TURNS_MAX).default([]),
  }),
});
