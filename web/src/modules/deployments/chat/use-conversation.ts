import { type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react';
import { queryClient } from '../../../lib/api/query-client.ts';
import { notifyFailure } from '../../../ui/notify-failure.ts';
import { type ChatCut, type ChatMessage, type ChatSpeed, streamChat } from './chat.ts';
import { type Conversation, keepConversation, readConversation } from './kept-conversation.ts';

export type Turn = ChatMessage & {
  /** What the model has thought before its answer; it is not told of it again. */
  thoughts?: string | undefined;
  speed?: ChatSpeed | undefined;
  cut?: ChatCut | undefined;
  /** It is an answer that was stopped, or broke off. */
  interrupted?: boolean | undefined;
};

type Of = {
  userId: string;
  /** The conversation is the same in this tab as long as this is. */
  id: string;
  modelName: string;
};

/** A conversation with one model, which this tab keeps; leaving stops the answer. */
export function useConversation({ userId, id, modelName }: Of) {
  const [kept] = useState(() => readConversation(userId, id));
  const { turns, newest, show, showNextFrame } = useTurns(kept.turns);
  const [unanswered, setUnanswered] = useState(kept.unanswered);
  const [settings, setSettings] = useState(kept.settings);
  const [error, setError] = useState<unknown>(null);
  const [running, setRunning] = useState<AbortController | null>(null);
  useEffect(() => () => running?.abort(), [running]);

  useKeep({ userId, id }, { turns, unanswered, settings }, newest, running !== null);

  /** Resolves with whether any of an answer came. */
  async function ask(question: string): Promise<boolean> {
    const before: Turn[] = [...turns, { role: 'user', content: question }];
    const controller = new AbortController();
    let answer: Turn = { role: 'assistant', content: '' };
    const grow = (more: Partial<Turn>) => {
      answer = { ...answer, ...more };
      showNextFrame([...before, answer]);
    };
    show([...before, answer]);
    setUnanswered('');
    setError(null);
    setRunning(controller);
    try {
      const end = await streamChat(
        {
          model: modelName,
          messages: messagesOf(before, settings.system.trim()),
          options: settings.options,
        },
        (text) => grow({ content: answer.content + text }),
        controller.signal,
        (text) => grow({ thoughts: (answer.thoughts ?? '') + text }),
      );
      show([...before, { ...answer, ...end }]);
      return true;
    } catch (failure) {
      if (!controller.signal.aborted) {
        setError(failure);
        notifyFailure(failure, { product: 'Chat', inPlace: true });
      }
      const left = interrupt([...before, answer]);
      show(left.turns);
      setUnanswered(left.unanswered);
      return answer.content !== '';
    } finally {
      setRunning(null);
      // The last request, the cost and the metrics have changed.
      void queryClient.invalidateQueries({ queryKey: ['deployment'] });
    }
  }

  return {
    turns,
    unanswered,
    settings,
    setSettings,
    error,
    answering: running !== null,
    ask,
    stop: () => running?.abort(),
    clear: () => {
      show([]);
      setUnanswered('');
      setError(null);
    },
  };
}

/** What the model is told: what was said, after its instructions where it has any. */
function messagesOf(turns: Turn[], system: string): ChatMessage[] {
  const messages = turns.map(({ role, content }): ChatMessage => ({ role, content }));
  return system ? [{ role: 'system', content: system }, ...messages] : messages;
}

/** The turns as they are drawn, and the newest: an answer that grows is drawn once per frame, and not while nobody looks. */
function useTurns(kept: Turn[]) {
  const [turns, setTurns] = useState(kept);
  const newest = useRef(kept);
  const frame = useRef(0);
  return {
    turns,
    newest,
    /** Draws them at once. */
    show: (next: Turn[]) => {
      cancelAnimationFrame(frame.current);
      frame.current = 0;
      newest.current = next;
      setTurns(next);
    },
    /** Draws them with the next frame. */
    showNextFrame: (next: Turn[]) => {
      newest.current = next;
      frame.current ||= requestAnimationFrame(() => {
        frame.current = 0;
        setTurns(newest.current);
      });
    },
  };
}

/** Keeps the conversation as it is; while an answer comes, as it would be if the page were left now. */
function useKeep(
  { userId, id }: Pick<Of, 'userId' | 'id'>,
  { turns, unanswered, settings }: Conversation,
  newest: RefObject<Turn[]>,
  answering: boolean,
): void {
  const keepInterrupted = useEffectEvent(() =>
    keepConversation(userId, id, { ...interrupt(newest.current), settings }),
  );
  useEffect(() => {
    if (!answering) return;
    keepInterrupted();
    window.addEventListener('pagehide', keepInterrupted);
    return () => {
      window.removeEventListener('pagehide', keepInterrupted);
      keepInterrupted();
    };
  }, [answering]);
  useEffect(() => {
    if (!answering) keepConversation(userId, id, { turns, unanswered, settings });
  }, [answering, userId, id, turns, unanswered, settings]);
}

/** Pure: what is left when the last answer ends here. A question without any answer is to be asked again. */
function interrupt(turns: Turn[]): { turns: Turn[]; unanswered: string } {
  const [question, answer] = turns.slice(-2);
  if (!question || !answer) return { turns, unanswered: '' };
  return answer.content === ''
    ? { turns: turns.slice(0, -2), unanswered: question.content }
    : { turns: [...turns.slice(0, -1), { ...answer, interrupted: true }], unanswered: '' };
}
