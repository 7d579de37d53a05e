import { Wrench } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { cx } from '../../lib/cx.ts';
import { countOf } from '../../lib/format/count-of.ts';
import { formatNumber } from '../../lib/format/format-number.ts';
import { formatDuration } from '../../lib/format/format-time.ts';
import { useNow } from '../../lib/use-now.ts';
import { Disclosure } from '../../ui/disclosure.tsx';
import { MarkdownLines } from '../../ui/markdown.tsx';
import type { ChatSpeed, CutReason, Turn } from './chat.ts';
import type { Wait } from './use-conversation.ts';

type Props = {
  turn: Turn;
  /** Set while more text may arrive. */
  wait: Wait | undefined;
};

/** A question or an answer with its actions. */
export function ConversationTurn({ turn, wait, children }: Props & { children?: ReactNode }) {
  const own = turn.role === 'user';
  return (
    <div className={cx('flex max-w-[85%] flex-col gap-1', own ? 'self-end' : 'self-start')}>
      <TurnText turn={turn} wait={wait} />
      <div className={cx('flex flex-wrap gap-0.5 empty:hidden', own && 'justify-end')}>{children}</div>
    </div>
  );
}

/**
 * A question as typed, or an answer as Markdown. Memoized, so other answers' updates do not parse it again.
 */
const TurnText = memo(function TurnText({ turn, wait }: Props) {
  const own = turn.role === 'user';
  return (
    <>
      <div
        className={cx(
          'rounded-xl px-3.5 py-2 [overflow-wrap:anywhere]',
          own ? 'bg-accent-soft text-ink' : 'bg-surface shadow-card',
        )}
      >
        {turn.results?.map(({ id, name, content }) => (
          <Said key={id} title={`Result of ${name}`} text={content} />
        ))}
        {own && !turn.results && (
          <p dir="auto" className="whitespace-pre-wrap">
            {turn.content}
          </p>
        )}
        {!own && (
          <>
            {turn.thoughts && (
              <Thoughts text={turn.thoughts} thinking={wait !== undefined && !turn.content} />
            )}
            {turn.content && <MarkdownLines text={turn.content} />}
            {turn.calls?.map((call) => (
              <Said key={call.id} title={`Calls ${call.name}`} text={indented(call.arguments)} />
            ))}
            {wait && !turn.content && !turn.thoughts && !turn.calls && <Thinking {...wait} />}
          </>
        )}
      </div>
      {turn.interrupted && <p className="px-1 text-muted text-xs">The answer was interrupted.</p>}
      {turn.cut && <p className="px-1 text-muted text-xs">{sentenceOfCut(turn.cut, turn.speed)}</p>}
      {turn.speed && (
        <p className="px-1 text-muted text-xs tabular-nums">
          {countOf(turn.speed.tokens, 'token')} · first word after{' '}
          {formatNumber(turn.speed.firstTokenMs / 1000, { maximumFractionDigits: 1 })} s
          {turn.speed.tokensPerSecond &&
            ` · ${formatNumber(Math.round(turn.speed.tokensPerSecond))} tokens/s`}
        </p>
      )}
    </>
  );
});

/** Seconds since the question, and after ten of them the reason for the wait. */
function Thinking({ since, reason }: Wait) {
  const seconds = Math.max(0, Math.floor((Number(useNow(1000)) - Number(since)) / 1000));
  return (
    <div className="text-muted tabular-nums">
      {/* Not announced every second. */}
      Thinking…{seconds > 0 && <span aria-hidden> {formatDuration(seconds)}</span>}
      {seconds >= 10 && <p className="text-xs">{reason || 'The model reads the question.'}</p>}
    </div>
  );
}

/** A tool call with its arguments, or its result. */
function Said({ title, text }: { title: string; text: string }) {
  return (
    <section className="my-1 min-w-0">
      <h3 className="flex items-center gap-1.5 font-medium text-compact">
        <Wrench aria-hidden className="size-3.5 shrink-0 text-muted" />
        {title}
      </h3>
      <pre dir="auto" className="mt-1 whitespace-pre-wrap font-mono text-xs [overflow-wrap:anywhere]">
        {text}
      </pre>
    </section>
  );
}

/** Pretty-prints JSON; returns incomplete JSON unchanged. */
function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

/** The model's reasoning before its answer, collapsed by default. */
function Thoughts({ text, thinking }: { text: string; thinking: boolean }) {
  return (
    <div className="my-1.5 text-compact text-muted">
      <Disclosure title={thinking ? 'Thinking…' : 'Thoughts'}>
        <p dir="auto" className="whitespace-pre-wrap">
          {text}
        </p>
      </Disclosure>
    </div>
  );
}

/** Explains why the answer was cut and how to get longer ones. */
function sentenceOfCut(cut: CutReason, speed: ChatSpeed | undefined): string {
  if (cut === 'context') {
    return 'The answer stopped because the context window is full. Start a new conversation for longer answers.';
  }
  const tokens = speed?.tokens ?? 0;
  return `The answer stopped at the maximum of ${countOf(tokens, 'token')}. For longer answers, raise “Maximum tokens”.`;
}
