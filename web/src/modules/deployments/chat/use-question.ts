import { useEffect, useState } from 'react';
import { keepInTab, readFromTab } from '../../../lib/tab-storage.ts';

/** Identifies a conversation and its user. */
export type ConversationKey = { userId: string; id: string };

const nameOf = (id: string) => `question.${id}`;

/** Returns the unsent draft that this tab stored for the conversation, or an empty string. */
export function readQuestion({ userId, id }: ConversationKey): string {
  const kept = readFromTab(userId, nameOf(id));
  return typeof kept === 'string' ? kept : '';
}

/** Deletes the draft of the conversation. */
export function forgetQuestion({ userId, id }: ConversationKey): void {
  keepInTab(userId, nameOf(id), null);
}

/**
 * State for the draft of a conversation. Stored per tab across reloads; initially the stored draft or
 * `unanswered`.
 */
export function useQuestion({ userId, id }: ConversationKey, unanswered: string) {
  const [question, setQuestion] = useState(() => readQuestion({ userId, id }) || unanswered);
  useEffect(() => keepInTab(userId, nameOf(id), question || null), [userId, id, question]);
  return [question, setQuestion] as const;
}
