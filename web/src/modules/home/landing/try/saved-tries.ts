import { readFromTab, writeToTab } from '../../../../lib/tab-storage.ts';

export type Said = { role: 'user' | 'assistant'; content: string };

/** A guest conversation; it has this id after sign-up. */
export type GuestConversation = { id: string; model: string; turns: Said[] };

/** Guest results of this tab: the picture's token, and the conversation. */
export type GuestResults = { picture?: string | undefined; chat?: GuestConversation | undefined };

const NAME = 'tries';

/** Returns null if there are none. */
export function readGuestResults(): GuestResults | null {
  return readFromTab(null, NAME) as GuestResults | null;
}

/** Stores guest results in this tab until a user signs in and claims them; undefined deletes one. */
export function saveGuestResults(tried: GuestResults): void {
  const { picture, chat } = { ...readGuestResults(), ...tried };
  writeToTab(null, NAME, picture || chat ? { picture, chat } : null);
}
