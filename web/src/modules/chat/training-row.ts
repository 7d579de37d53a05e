import type { addChatRow, ChatRowMessage } from '@bakehouse/contract/chat-rows';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { Turn } from './chat.ts';
import type { ChatSettings } from './chat-options.tsx';
import { toChatMessages, toolsFor } from './chat-tools.ts';

/** An answer of a conversation with its question. */
export type Exchange = {
  /** Index among the turns. */
  at: number;
  question: string;
  answer: string;
  /** The answer is complete. */
  isWhole: boolean;
};

/** Returns the answers of a conversation that can be used for training. */
export function exchangesOf(turns: readonly Turn[]): Exchange[] {
  return turns.flatMap((turn, at) => {
    if (turn.role !== 'assistant') return [];
    const before = turns[at - 1];
    const asked = before?.results?.map(({ name, content }) => `${name}: ${content}`).join(', ');
    const called = turn.calls?.map(({ name }) => `Calls ${name}`).join(', ');
    return [
      {
        at,
        question: asked ?? before?.content ?? '',
        answer: turn.content || called || '',
        isWhole: !turn.interrupted && !turn.cut,
      },
    ];
  });
}

/**
 * Returns a conversation up to the last selected answer as a training row. `learnt` are the indices of the
 * selected answers. The other answers are context only, without the model's reasoning.
 */
export function trainingRow(
  turns: readonly Turn[],
  settings: Pick<ChatSettings, 'system' | 'tools'>,
  learnt: readonly number[],
): InputOf<typeof addChatRow>['body'] {
  const kept = turns.slice(0, Math.max(...learnt) + 1);
  const messages = kept.flatMap((turn, at): ChatRowMessage[] => {
    const [message, ...results] = toChatMessages([turn], '');
    if (message?.role !== 'assistant') return message ? [message, ...(results as ChatRowMessage[])] : [];
    if (!learnt.includes(at)) return [{ ...message, weight: 0 }];
    return [{ ...message, ...(turn.thoughts && { reasoning_content: turn.thoughts }) }];
  });
  const system = settings.system.trim();
  const tools = toolsFor(settings.tools, { role: 'user', content: '' })?.definitions;
  return {
    messages: [...(system ? [{ role: 'system' as const, content: system }] : []), ...messages],
    ...(tools && { tools: tools as Record<string, unknown>[] }),
  };
}
