import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { queryClient } from '../../lib/api/query-client.ts';
import { notify } from '../../ui/notify.ts';
import { notifyFailure } from '../../ui/notify-failure.ts';
import type { Turn } from './chat.ts';
import { type ChatRequest, streamChat } from './chat.ts';
import type { ChatSettings } from './chat-options.tsx';
import { toChatMessages, toolsFor } from './chat-tools.ts';
import type { ReadConversation } from './conversation-queries.ts';
import { type Conversation, OpenConversation } from './saved-conversation.ts';

type Of = {
  userId: string;
  /** Groups conversations: a deployment's id or a shared model's name. */
  model: string;
  /** Identifies the conversation. */
  id: string;
  modelName: string;
};

/** An answer in progress. */
type Running = { controller: AbortController; question: Turn; inPlaceOf: Turn[]; since: Date };

/** How long the user has waited for the answer in progress, and why, if the server has said it. */
export type Wait = { since: Date; reason: string };

/** A saved conversation with one model. Unmounting stops the answer. */
export function useConversation({ modelName, ...of }: Of, read: ReadConversation) {
  const [kept, setKept] = useState<Conversation>();
  const [error, setError] = useState<unknown>(null);
  const [running, setRunning] = useState<Running | null>(null);
  const [answer, drawAnswer] = useFrames<Turn>(nothing);
  const newest = useRef(nothing);
  const [reason, setReason] = useState('');
  const [conversation] = useState(
    () => new OpenConversation(of, read, { show: setKept, failed: warnOnce() }),
  );
  const { turns: keptTurns, unanswered, settings } = kept ?? conversation.current();
  useEffect(() => conversation.follow(read), [conversation, read]);
  useEffect(() => () => running?.controller.abort(), [running]);
  useEffect(() => conversation.open(), [conversation]);
  useLeave(() =>
    conversation.leave(running ? ended(running, { ...newest.current, interrupted: true }) : undefined),
  );

  async function ask(question: Turn, inPlaceOf: Turn[] = []): Promise<boolean> {
    const request: Running = { controller: new AbortController(), question, inPlaceOf, since: new Date() };
    const { system, options, tools } = conversation.current().settings;
    const before = [...without(conversation.current().turns, inPlaceOf), question];
    newest.current = nothing;
    drawAnswer(nothing, true);
    setReason('');
    setError(null);
    setRunning(request);
    // Saves the question in case the tab dies.
    conversation.change((now) => ({ ...now, unanswered: question.content }));
    const { signal } = request.controller;
    const messages = toChatMessages(before, system.trim());
    const sent = { model: modelName, messages, options, tools: toolsFor(tools, question) };
    const draw = (growing: Turn) => {
      newest.current = growing;
      drawAnswer(growing);
    };
    const { answer: came, failure } = await streamTurn(sent, signal, { draw, onWait: setReason });
    const isWhole = failure === undefined;
    conversation.change(ended(request, isWhole ? came : { ...came, interrupted: true }, isWhole));
    setRunning(null);
    // The answer has changed the deployment's last request, cost and metrics.
    void queryClient.invalidateQueries({ queryKey: ['deployment'] });
    if (!isWhole && !signal.aborted) {
      setError(failure);
      notifyFailure(failure, { product: 'Chat', inPlace: true });
    }
    return isWhole || came.content !== '';
  }

  const turns = running ? [...without(keptTurns, running.inPlaceOf), running.question, answer] : keptTurns;
  return {
    turns,
    unanswered,
    settings,
    setSettings: (next: ChatSettings) => conversation.change((now) => ({ ...now, settings: next })),
    error,
    wait: running ? { since: running.since, reason } : undefined,
    ask: (question: string) => ask({ role: 'user', content: question }),
    /** Continues with the results of the last answer's calls. */
    answerCalls: (results: NonNullable<Turn['results']>) => ask({ role: 'user', content: '', results }),
    /** Asks the last question again, optionally reworded. Without a new answer, the old one stays. */
    askAgain: (words?: string) => ask(questionOf(turns, words), turns.slice(-2)),
    stop: () => running?.controller.abort(),
  };
}

/** Returns the last question, or the reworded one. */
function questionOf(turns: Turn[], words: string | undefined): Turn {
  const last = turns.at(-2);
  return words === undefined && last ? last : { role: 'user', content: words ?? '' };
}

const nothing: Turn = { role: 'assistant', content: '' };

/**
 * Returns the change to the conversation when an answer ends. Without an answer, the question becomes
 * `unanswered`, and the turns that it would have replaced stay.
 */
function ended({ question, inPlaceOf }: Running, answer: Turn, isWhole = false) {
  return (conversation: Conversation): Conversation => {
    if (answer.content === '' && !isWhole) {
      const isSame = inPlaceOf[0]?.content === question.content;
      return { ...conversation, unanswered: isSame ? '' : question.content };
    }
    const turns = [...without(conversation.turns, inPlaceOf), question, answer];
    return { ...conversation, turns, unanswered: '' };
  };
}

/** Removes `last` from the end of the turns, unless they have changed. */
function without(turns: Turn[], last: Turn[]): Turn[] {
  const first = turns.length - last.length;
  return JSON.stringify(turns.slice(first)) === JSON.stringify(last) ? turns.slice(0, first) : turns;
}

/**
 * Streams the answer as a turn and draws it as it grows. Resolves with what arrived and the failure, if any.
 */
async function streamTurn(
  request: ChatRequest,
  signal: AbortSignal,
  { draw, onWait }: { draw: (answer: Turn) => void; onWait: (reason: string) => void },
): Promise<{ answer: Turn; failure?: unknown }> {
  let answer = nothing;
  const grow = (more: Partial<Turn>) => {
    answer = { ...answer, ...more };
    draw(answer);
  };
  try {
    const end = await streamChat(
      request,
      {
        onText: (text) => grow({ content: answer.content + text }),
        onThought: (text) => grow({ thoughts: (answer.thoughts ?? '') + text }),
        onCalls: (calls) => grow({ calls }),
        onWait,
      },
      signal,
    );
    return { answer: { ...answer, ...end } };
  } catch (failure) {
    // An incomplete call cannot be answered.
    const { calls: _, ...said } = answer;
    return { answer: said, failure };
  }
}

/** State for a value that changes often: rendered once per frame, or immediately. */
function useFrames<Value>(first: Value) {
  const [drawn, setDrawn] = useState(first);
  const newest = useRef(first);
  const frame = useRef(0);
  const draw = (value: Value, atOnce = false) => {
    newest.current = value;
    if (atOnce) return setDrawn(value);
    frame.current ||= requestAnimationFrame(() => {
      frame.current = 0;
      setDrawn(newest.current);
    });
  };
  return [drawn, draw] as const;
}

/** Calls `leave` when the page unloads or unmounts. */
function useLeave(leave: () => void): void {
  const left = useEffectEvent(leave);
  useEffect(() => {
    const listen = () => left();
    window.addEventListener('pagehide', listen);
    return () => window.removeEventListener('pagehide', listen);
  }, []);
}

function warnOnce(): () => void {
  let isWarned = false;
  return () => {
    if (!isWarned) notify.warning('This conversation could not be saved yet. This tab will keep trying.');
    isWarned = true;
  };
}
