import { useEffect, useState } from 'react';
import { readFromTab, writeToTab } from '../../lib/tab-storage.ts';

/** Identifies a conversation and its user. */
export type ConversationKey = { userId: string; id: string };

const nameOf = (id: string) => `question.${id}`;

/** Returns the unsent draft that this tab stored for the conversation, or null. */
export function readQuestionDraft({ userId, id }: ConversationKey): string | null {
  const kept = readFromTab(userId, nameOf(id));
  return typeof kept === 'string' ? kept : null;
}

/** Deletes the draft of the conversation. */
export function deleteQuestionDraft({ userId, id }: ConversationKey): void {
  writeToTab(userId, nameOf(id), null);
}

/**
 * State for the draft of a conversation. Stored per tab across reloads; initially the stored draft or
 * `unanswered`. Null after it was sent. An emptied draft stays empty.
 */
export function useQuestionDraft({ userId, id }: ConversationKey, unanswered: string) {
  const [question, setQuestion] = useState(() => readQuestionDraft({ userId, id }) ?? (unanswered || null));
  useEffect(() => writeToTab(userId, nameOf(id), question), [userId, id, question]);
  return [question, setQuestion] as const;
}
