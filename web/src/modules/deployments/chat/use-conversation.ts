import { type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react';
import { queryClient } from '../../../lib/api/query-client.ts';
import { notify } from '../../../ui/notify.ts';
import { notifyFailure } from '../../../ui/notify-failure.ts';
import { type ChatMessage, streamChat } from './chat.ts';
import {
  type Conversation,
  keepConversation,
  onKeptElsewhere,
  readConversation,
  type Turn,
} from './kept-conversation.ts';

type Of = {
  userId: string;
  /** The conversation is the same in this browser as long as this is. */
  id: string;
  modelName: string;
};

/** A conversation with one model, which this browser keeps; leaving stops the answer. */
export function useConversation({ userId, id, modelName }: Of) {
  const [kept] = useState(() => readConversation(userId, id));
  const { turns, newest, show, showNextFrame } = useTurns(kept.turns);
  const asked = useAsked({ userId, id });
  const [unanswered, setUnanswered] = useState(kept.unanswered);
  const [settings, setSettings] = useState(kept.settings);
  const [error, setError] = useState<unknown>(null);
  const [running, setRunning] = useRunning();
  const interrupted = () => interrupt(asked.merged(newest.current), asked.replaced());
  const followed = useRef<Conversation>(null);
  useKeep({ userId, id }, { turns, unanswered, settings }, interrupted, running !== null, followed);
  useOtherTabs({ userId, id }, (conversation) => {
    setSettings(conversation.settings);
    if (running) return asked.noteTurns(conversation.turns);
    followed.current = conversation;
    show(conversation.turns);
    setUnanswered(conversation.unanswered);
  });

  /** Asks in place of the turns that are given. Resolves with whether any of an answer came. */
  async function ask(question: string, inPlaceOf: Turn[] = []): Promise<boolean> {
    const earlier = turns.slice(0, turns.length - inPlaceOf.length);
    const before: Turn[] = [...earlier, { role: 'user', content: question }];
    asked.begin(inPlaceOf);
    const controller = new AbortController();
    show([...before, { role: 'assistant', content: '' }]);
    setUnanswered('');
    setError(null);
    setRunning(controller);
    const { answer, failure } = await streamTurn(
      { model: modelName, messages: messagesOf(before, settings.system.trim()), options: settings.options },
      (growing) => showNextFrame([...before, growing]),
      controller.signal,
    );
    setRunning(null);
    // The last request, the cost and the metrics have changed.
    void queryClient.invalidateQueries({ queryKey: ['deployment'] });
    const after = asked.end([...before, answer]);
    if (failure === undefined) {
      show(after);
      return true;
    }
    if (!controller.signal.aborted) {
      setError(failure);
      notifyFailure(failure, { product: 'Chat', inPlace: true });
    }
    const left = interrupt(after, asked.replaced());
    show(left.turns);
    setUnanswered(left.unanswered);
    return answer.content !== '';
  }

  return {
    turns,
    unanswered,
    settings,
    setSettings,
    error,
    answering: running !== null,
    ask: (question: string) => ask(question),
    /** Asks the last question again, as it was or in other words; its answer goes when another one comes. */
    askAgain: (question = turns.at(-2)?.content ?? '') => ask(question, turns.slice(-2)),
    stop: () => running?.abort(),
    clear: () => {
      show([]);
      setUnanswered('');
      setError(null);
    },
  };
}

/** The answer as a turn that is drawn as it grows; resolves with as much as has come, and what broke it off. */
async function streamTurn(
  request: Parameters<typeof streamChat>[0],
  draw: (answer: Turn) => void,
  signal: AbortSignal,
): Promise<{ answer: Turn; failure?: unknown }> {
  let answer: Turn = { role: 'assistant', content: '' };
  const grow = (more: Partial<Turn>) => {
    answer = { ...answer, ...more };
    draw(answer);
  };
  try {
    const end = await streamChat(
      request,
      (text) => grow({ content: answer.content + text }),
      signal,
      (text) => grow({ thoughts: (answer.thoughts ?? '') + text }),
    );
    return { answer: { ...answer, ...end } };
  } catch (failure) {
    return { answer, failure };
  }
}

/** What the model is told: what was said, after its instructions where it has any. */
function messagesOf(turns: Turn[], system: string): ChatMessage[] {
  const messages = turns.map(({ role, content }): ChatMessage => ({ role, content }));
  return system ? [{ role: 'system', content: system }, ...messages] : messages;
}

/** The request whose answer comes; leaving stops it. */
function useRunning() {
  const [running, setRunning] = useState<AbortController | null>(null);
  useEffect(() => () => running?.abort(), [running]);
  return [running, setRunning] as const;
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

/** The question that is being answered, beside what another tab makes of the conversation meanwhile. */
function useAsked({ userId, id }: Pick<Of, 'userId' | 'id'>) {
  // What its answer stands in place of: it comes back when nothing of one has come.
  const replaced = useRef<Turn[]>([]);
  // The turns that were kept when it was asked.
  const earlier = useRef<Turn[]>([]);
  const isChangedElsewhere = useRef(false);
  const begin = (inPlaceOf: Turn[]) => {
    replaced.current = inPlaceOf;
    earlier.current = readConversation(userId, id).turns;
    isChangedElsewhere.current = false;
  };
  /** The question and its answer, which are the last of these, behind what another tab has made of it. */
  const merged = (own: Turn[]) =>
    isChangedElsewhere.current ? [...readConversation(userId, id).turns, ...own.slice(-2)] : own;
  return {
    begin,
    /** What another tab has kept: where it has changed the settings alone, the turns are those of before. */
    noteTurns: (kept: Turn[]) => {
      isChangedElsewhere.current = JSON.stringify(kept) !== JSON.stringify(earlier.current);
      if (isChangedElsewhere.current) replaced.current = [];
    },
    replaced: () => replaced.current,
    merged,
    end: (own: Turn[]) => {
      const after = merged(own);
      isChangedElsewhere.current = false;
      return after;
    },
  };
}

/**
 * Keeps the conversation as it is; while an answer comes, as it would be if the page were left now. What another tab has
 * kept is not kept once more: that tab may have kept something newer by then, which would be undone in both.
 */
function useKeep(
  { userId, id }: Pick<Of, 'userId' | 'id'>,
  { turns, unanswered, settings }: Conversation,
  interrupted: () => Omit<Conversation, 'settings'>,
  answering: boolean,
  followed: RefObject<Conversation | null>,
): void {
  const isWarned = useRef(false);
  const keep = useEffectEvent((conversation: Conversation) => {
    if (keepConversation(userId, id, conversation) || isWarned.current) return;
    isWarned.current = true;
    notify.warning('This conversation is not saved: the storage of this browser is full or blocked');
  });
  const keepInterrupted = useEffectEvent(() => keep({ ...interrupted(), settings }));
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
    const other = followed.current;
    const isOthers = other?.turns === turns && other.unanswered === unanswered && other.settings === settings;
    if (!answering && !isOthers) keep({ turns, unanswered, settings });
  }, [answering, userId, id, turns, unanswered, settings, followed]);
}

/** Follows what other tabs do with the conversation: otherwise the one that writes last would undo it. */
function useOtherTabs(
  { userId, id }: Pick<Of, 'userId' | 'id'>,
  follow: (conversation: Conversation) => void,
): void {
  const changed = useEffectEvent(() => follow(readConversation(userId, id)));
  useEffect(() => onKeptElsewhere(userId, id, () => changed()), [userId, id]);
}

/**
 * Pure: what is left when the last answer ends here. A question without any answer is to be asked again, and what it
 * stands in place of comes back.
 */
function interrupt(turns: Turn[], replaced: Turn[]): Omit<Conversation, 'settings'> {
  const [question, answer] = turns.slice(-2);
  // The figures come with the end of an answer, behind which there is nothing to break off.
  if (!question || !answer || answer.speed) return { turns, unanswered: '' };
  if (answer.content !== '') {
    return { turns: [...turns.slice(0, -1), { ...answer, interrupted: true }], unanswered: '' };
  }
  const isSame = replaced[0]?.content === question.content;
  return { turns: [...turns.slice(0, -2), ...replaced], unanswered: isSame ? '' : question.content };
}
