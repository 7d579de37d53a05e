import { keepInTab, readFromTab } from '../../../../lib/tab-storage.ts';

export type Said = { role: 'user' | 'assistant'; content: string };

/** A conversation with a model; who signs up has it under this id. */
export type TriedChat = { id: string; model: string; turns: Said[] };

/** What was tried in this tab without an account: the token of the picture, and the conversation. */
export type Tries = { picture?: string | undefined; chat?: TriedChat | undefined };

const NAME = 'tries';

/** Null where nothing was tried. */
export function readTries(): Tries | null {
  return readFromTab(null, NAME) as Tries | null;
}

/** Keeps in this tab what was tried, until somebody who signs in here has it; undefined is nothing. */
export function keepForSignUp(tried: Tries): void {
  const { picture, chat } = { ...readTries(), ...tried };
  keepInTab(null, NAME, picture || chat ? { picture, chat } : null);
}
