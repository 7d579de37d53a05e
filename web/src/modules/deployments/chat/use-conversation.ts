import { useEffect, useState } from 'react';
import { queryClient } from '../../../lib/api/query-client.ts';
import { notifyFailure } from '../../../ui/notify-failure.ts';
import { type ChatMessage, type ChatSpeed, streamChat } from './chat.ts';
import type { ChatSettings } from './chat-options.tsx';

export type Turn = ChatMessage & { speed?: ChatSpeed };

/** A conversation with one model. It lives as long as the component; leaving stops the answer. */
export function useConversation(modelName: string, { system, options }: ChatSettings) {
  const [turns, setTurns] = useState<Turn[]>([]);
  const [error, setError] = useState<unknown>(null);
  const [running, setRunning] = useState<AbortController | null>(null);
  useEffect(() => () => running?.abort(), [running]);

  /** Resolves with whether any of an answer came. */
  async function ask(question: string): Promise<boolean> {
    const before: Turn[] = [...turns, { role: 'user', content: question }];
    const messages = before.map(({ role, content }): ChatMessage => ({ role, content }));
    const prompt = system.trim();
    const controller = new AbortController();
    let answer = '';
    setTurns([...before, { role: 'assistant', content: '' }]);
    setError(null);
    setRunning(controller);
    try {
      const speed = await streamChat(
        {
          model: modelName,
          messages: prompt ? [{ role: 'system', content: prompt }, ...messages] : messages,
          options,
        },
        (text) => {
          answer += text;
          setTurns([...before, { role: 'assistant', content: answer }]);
        },
        controller.signal,
      );
      setTurns([...before, { role: 'assistant', content: answer, speed }]);
      return true;
    } catch (failure) {
      if (!controller.signal.aborted) {
        setError(failure);
        notifyFailure(failure, { product: 'Chat', inPlace: true });
      }
      setTurns(answer ? [...before, { role: 'assistant', content: answer }] : turns);
      return answer !== '';
    } finally {
      setRunning(null);
      // The last request, the cost and the metrics have changed.
      void queryClient.invalidateQueries({ queryKey: ['deployment'] });
    }
  }

  return {
    turns,
    error,
    answering: running !== null,
    ask,
    stop: () => running?.abort(),
    clear: () => {
      setTurns([]);
      setError(null);
    },
  };
}
