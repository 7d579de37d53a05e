import * as z from 'zod/mini';
import { keepInTab, readFromTab } from '../../../lib/tab-storage.ts';
import { type ChatSettings, initialSettings } from './chat-options.tsx';
import type { Turn } from './use-conversation.ts';

/** In characters, as JSON. */
const TURNS_LENGTH_MAX = 200_000;

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
    options: z.object({ temperature: numberOrNaN, max_tokens: numberOrNaN }),
  }),
});

const nameOf = (id: string) => `conversation.${id}`;

/** The user's conversation as this tab has kept it; an empty one where it has none. */
export function readConversation(userId: string, id: string): Conversation {
  const { data } = stored.safeParse(readFromTab(userId, nameOf(id)));
  return data ?? { turns: [], unanswered: '', settings: initialSettings };
}

/** Keeps the conversation in this tab; of a long one the newest turns. */
export function keepConversation(userId: string, id: string, conversation: Conversation): void {
  keepInTab(userId, nameOf(id), {
    ...conversation,
    turns: newestTurns(conversation.turns, TURNS_LENGTH_MAX),
  });
}

/** Pure: the newest questions with their answers that fit. */
export function newestTurns(turns: Turn[], lengthMax: number): Turn[] {
  let first = 0;
  while (first < turns.length && JSON.stringify(turns.slice(first)).length > lengthMax) first += 2;
  return turns.slice(first);
}
