import { memo, type ReactNode } from 'react';
import { cx } from '../../../lib/cx.ts';
import { countOf } from '../../../lib/format/count-of.ts';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { MarkdownLines } from '../../../ui/markdown.tsx';
import type { ChatCut, ChatSpeed } from './chat.ts';
import { limits } from './chat-options.tsx';
import type { Turn } from './kept-conversation.ts';

type Props = {
  turn: Turn;
  /** More of it may come. */
  waiting: boolean;
};

/** A question or an answer, with what can be done with it. */
export function ConversationTurn({ turn, waiting, children }: Props & { children?: ReactNode }) {
  const own = turn.role === 'user';
  return (
    <div className={cx('flex max-w-[85%] flex-col gap-1', own ? 'self-end' : 'self-start')}>
      <TurnText turn={turn} waiting={waiting} />
      <div className={cx('flex gap-0.5 empty:hidden', own && 'justify-end')}>{children}</div>
    </div>
  );
}

/** A question as it was typed, or an answer with its formatting, which is read once, not whenever another one grows. */
const TurnText = memo(function TurnText({ turn, waiting }: Props) {
  const own = turn.role === 'user';
  return (
    <>
      <div
        className={cx(
          'rounded-xl px-3.5 py-2 [overflow-wrap:anywhere]',
          own ? 'bg-accent-soft text-ink' : 'bg-surface shadow-card',
        )}
      >
        {own ? (
          <p dir="auto" className="whitespace-pre-wrap">
            {turn.content}
          </p>
        ) : (
          <>
            {turn.thoughts && <Thoughts text={turn.thoughts} thinking={waiting && !turn.content} />}
            {turn.content && <MarkdownLines text={turn.content} />}
            {waiting && !turn.content && !turn.thoughts && (
              <p className="text-muted">Waiting for the first token…</p>
            )}
          </>
        )}
      </div>
      {turn.interrupted && <p className="px-1 text-muted text-xs">The answer was interrupted.</p>}
      {turn.cut && <p className="px-1 text-muted text-xs">{sentenceOfCut(turn.cut, turn.speed)}</p>}
      {turn.speed && (
        <p className="px-1 text-muted text-xs tabular-nums">
          {countOf(turn.speed.tokens, 'token')} · first after{' '}
          {formatNumber(Math.round(turn.speed.firstTokenMs))} ms
          {turn.speed.tokensPerSecond &&
            ` · ${formatNumber(Math.round(turn.speed.tokensPerSecond))} tokens/s`}
        </p>
      )}
    </>
  );
});

/** What the model has thought before its answer: most people can leave it closed. */
function Thoughts({ text, thinking }: { text: string; thinking: boolean }) {
  return (
    <div className="my-1.5 text-[0.8125rem] text-muted">
      <Disclosure title={thinking ? 'Thinking…' : 'Thoughts'}>
        <p dir="auto" className="whitespace-pre-wrap">
          {text}
        </p>
      </Disclosure>
    </div>
  );
}

/** Why the answer is not longer, and what makes longer ones possible. */
function sentenceOfCut(cut: ChatCut, speed: ChatSpeed | undefined): string {
  if (cut === 'context') {
    return 'The answer stopped because the context window is full. Start a new conversation for longer answers.';
  }
  const tokens = speed?.tokens ?? 0;
  const stopped = `The answer stopped at the maximum of ${countOf(tokens, 'token')}.`;
  return tokens < limits.max_tokens.max ? `${stopped} For longer answers, raise “Maximum tokens”.` : stopped;
}
