import { useEffect, useState } from 'react';
import { keepInTab, readFromTab } from '../../../lib/tab-storage.ts';

/** Whose conversation it is, and which. */
export type ConversationKey = { userId: string; id: string };

const nameOf = (id: string) => `question.${id}`;

/** What was typed in the conversation and not asked, as this tab has kept it; otherwise empty. */
export function readQuestion({ userId, id }: ConversationKey): string {
  const kept = readFromTab(userId, nameOf(id));
  return typeof kept === 'string' ? kept : '';
}

/** Forgets what was typed in the conversation. */
export function forgetQuestion({ userId, id }: ConversationKey): void {
  keepInTab(userId, nameOf(id), null);
}

/** What is typed in the conversation. This tab keeps it over reloads and other pages; at first it is what was kept, or `unanswered`. */
export function useQuestion({ userId, id }: ConversationKey, unanswered: string) {
  const [question, setQuestion] = useState(() => readQuestion({ userId, id }) || unanswered);
  useEffect(() => keepInTab(userId, nameOf(id), question || null), [userId, id, question]);
  return [question, setQuestion] as const;
}
