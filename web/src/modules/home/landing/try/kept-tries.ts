import { keepInTab, readFromTab } from '../../../../lib/tab-storage.ts';

export type Said = { role: 'user' | 'assistant'; content: string };

/** A guest conversation; it has this id after sign-up. */
export type TriedChat = { id: string; model: string; turns: Said[] };

/** Guest results of this tab: the picture's token, and the conversation. */
export type Tries = { picture?: string | undefined; chat?: TriedChat | undefined };

const NAME = 'tries';

/** Returns null if there are none. */
export function readTries(): Tries | null {
  return readFromTab(null, NAME) as Tries | null;
}

/** Stores guest results in this tab until a user signs in and claims them; undefined deletes one. */
export function keepForSignUp(tried: Tries): void {
  const { picture, chat } = { ...readTries(), ...tried };
  keepInTab(null, NAME, picture || chat ? { picture, chat } : null);
}
