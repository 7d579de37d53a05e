import { keepInTab, readFromTab } from '../../../../lib/tab-storage.ts';

export type Said = { role: 'user' | 'assistant'; content: string };

/** What was tried in this tab without an account: the token of the picture, and the conversation. */
export type Tries = { picture?: string; chat?: { model: string; turns: Said[] } };

const NAME = 'tries';

/** Keeps in this tab what was tried, until somebody signs up here. */
export function keepForSignUp(tried: Tries): void {
  keepInTab(null, NAME, { ...(readFromTab(null, NAME) as Tries | null), ...tried });
}

/** What was tried in this tab, once. */
export function takeTries(): Tries | null {
  const tries = readFromTab(null, NAME) as Tries | null;
  keepInTab(null, NAME, null);
  return tries;
}
