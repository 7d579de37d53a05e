import * as z from 'zod/mini';
import { browserStorage } from '../../../lib/tab-storage.ts';
import type { ChatCut, ChatMessage, ChatSpeed } from './chat.ts';
import { type ChatSettings, initialSettings } from './chat-options.tsx';

/** In characters, as JSON. */
const TURNS_LENGTH_MAX = 200_000;
/** Conversations of a user: as many as fit into what a browser stores of a site, at their longest. */
export const KEPT_MAX = 20;

export type Turn = ChatMessage & {
  /** What the model has thought before its answer; it is not told of it again. */
  thoughts?: string | undefined;
  speed?: ChatSpeed | undefined;
  cut?: ChatCut | undefined;
  /** It is an answer that was stopped, or broke off. */
  interrupted?: boolean | undefined;
};

export type Conversation = {
  turns: Turn[];
  /** The last question, if nothing of an answer has come; otherwise empty. */
  unanswered: string;
  settings: ChatSettings;
};

/** An empty number field is NaN, which JSON does not have. */
const numberOrNaN = z.catch(z.number(), Number.NaN);
const stored = z.object({
  turns: z.array(
    z.object({
      role: z.enum(['user', 'assistant']),
      content: z.string(),
      thoughts: z.optional(z.string()),
      speed: z.optional(
        z.object({ firstTokenMs: z.number(), tokens: z.number(), tokensPerSecond: z.nullable(z.number()) }),
      ),
      cut: z.optional(z.enum(['maximum', 'context'])),
      interrupted: z.optional(z.boolean()),
    }),
  ),
  unanswered: z.string(),
  settings: z.object({
    system: z.string(),
    options: z.object({
      temperature: numberOrNaN,
      max_tokens: numberOrNaN,
      top_p: z.optional(z.number()),
      seed: z.optional(z.number()),
    }),
  }),
});

const nameOf = (id: string) => `conversation.${id}`;

/** The ids of the conversations that are kept, the one that was open last first. */
const LIST = 'conversations';
const list = z.array(z.string());

/** The user's conversation as this browser has kept it; an empty one where it has none. What others have left goes. */
export function readConversation(userId: string, id: string): Conversation {
  browserStorage.forget(userId);
  const { data } = stored.safeParse(browserStorage.read(userId, nameOf(id)));
  return data ?? { turns: [], unanswered: '', settings: initialSettings };
}

/**
 * Keeps the conversation in this browser, beside the last ones; of a long one the newest turns, of an empty one nothing.
 * Where the storage is full the oldest ones make room; false where even that is not enough.
 */
export function keepConversation(userId: string, id: string, conversation: Conversation): boolean {
  const others = (list.safeParse(browserStorage.read(userId, LIST)).data ?? []).filter((one) => one !== id);
  const isEmpty =
    conversation.turns.length === 0 &&
    conversation.unanswered === '' &&
    JSON.stringify(conversation.settings) === JSON.stringify(initialSettings);
  const kept = isEmpty ? others : [id, ...others];
  for (const old of kept.splice(KEPT_MAX)) browserStorage.keep(userId, nameOf(old), null);
  const value = isEmpty
    ? null
    : { ...conversation, turns: newestTurns(conversation.turns, TURNS_LENGTH_MAX) };
  const isKept = () =>
    browserStorage.keep(userId, LIST, kept.length > 0 ? kept : null) &&
    browserStorage.keep(userId, nameOf(id), value);
  while (!isKept()) {
    if (kept.length < 2) return false;
    browserStorage.keep(userId, nameOf(kept.pop() ?? ''), null);
  }
  return true;
}

/** Calls back when another tab has changed the conversation; returns how to stop. */
export function onKeptElsewhere(userId: string, id: string, changed: () => void): () => void {
  const key = browserStorage.keyOf(userId, nameOf(id));
  const listen = (event: StorageEvent) => {
    if (event.key === key) changed();
  };
  window.addEventListener('storage', listen);
  return () => window.removeEventListener('storage', listen);
}

/** Pure: the newest questions with their answers that fit. */
export function newestTurns(turns: Turn[], lengthMax: number): Turn[] {
  let first = 0;
  while (first < turns.length && JSON.stringify(turns.slice(first)).length > lengthMax) first += 2;
  return turns.slice(first);
}
