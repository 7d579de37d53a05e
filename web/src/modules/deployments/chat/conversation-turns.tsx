import { Pencil, RefreshCw, Wrench } from 'lucide-react';
import {
  type ComponentProps,
  type FormEvent,
  type KeyboardEvent,
  memo,
  type ReactNode,
  useEffect,
  useRef,
  useState,
} from 'react';
import { flushSync } from 'react-dom';
import { cx } from '../../../lib/cx.ts';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { countOf } from '../../../lib/format/words.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { Field } from '../../../ui/field.tsx';
import { MarkdownLines } from '../../../ui/markdown.tsx';
import { useStickToBottom } from '../../../ui/placement.ts';
import { Textarea } from '../../../ui/textarea.tsx';
import { Tooltip } from '../../../ui/tooltip.tsx';
import type { ChatCall, ChatSpeed, CutReason, Turn } from './chat.ts';

/**
 * A question as typed, or an answer as Markdown. Memoized, so other answers' updates do not parse it again.
 */
const TurnText = memo(function TurnText({ turn, waiting }: ConversationTurnProps) {
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
            {turn.thoughts && <Thoughts text={turn.thoughts} thinking={waiting && !turn.content} />}
            {turn.content && <MarkdownLines text={turn.content} />}
            {turn.calls?.map((call) => (
              <Said key={call.id} title={`Calls ${call.name}`} text={indented(call.arguments)} />
            ))}
            {waiting && !turn.content && !turn.thoughts && !turn.calls && (
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

type Props = {
  modelName: string;
  turns: Turn[];
  answering: boolean;
  /** Actions on the last question; absent if nothing can be asked. */
  again?: {
    isAskable: boolean;
    askAgain: (question?: string) => Promise<boolean>;
    answerCalls: (results: NonNullable<Turn['results']>) => Promise<boolean>;
  };
};

/** A question being edited. */
type Edited = { turn: Turn; text: string };

/** The turns. Scrolls to the end unless the user has scrolled up. */
export function ConversationTurns({ modelName, turns, answering, again }: Props) {
  const { box, content, onScroll, follow } = useStickToBottom();
  // Scroll down after asking.
  useEffect(() => follow(), [follow, turns.length]);
  const [edited, setEdited] = useState<Edited | null>(null);
  const editButton = useRef<HTMLButtonElement>(null);

  async function askAgain(as?: Edited) {
    // The pressed button unmounts, so move focus to the conversation.
    box.current?.focus({ preventScroll: true });
    setEdited(null);
    follow();
    const answered = await again?.askAgain(as?.text);
    // Do not lose the typed text.
    if (!answered && as) setEdited(as);
  }

  function cancel() {
    flushSync(() => setEdited(null));
    editButton.current?.focus();
  }

  const [results, setResults] = useState<Record<string, string>>({});
  const calls = answering ? undefined : turns.at(-1)?.calls;
  const last = again && !answering ? turns.at(-2) : undefined;
  return (
    <div
      ref={box}
      role="log"
      aria-label="Conversation"
      aria-busy={answering}
      tabIndex={0}
      onScroll={onScroll}
      // Fixed height: streaming and Markdown rendering do not move the content below.
      className={cx(
        'flex flex-col overflow-y-auto rounded-xl bg-subtle p-4',
        turns.length === 0 ? 'min-h-40 lg:min-h-72' : 'h-[clamp(14rem,calc(100dvh-32rem),28rem)]',
      )}
    >
      <div ref={content} className="flex shrink-0 grow flex-col gap-4">
        {turns.length === 0 && <NothingSaid modelName={modelName} />}
        {turns.map((turn, index) => {
          // Turns are only ever appended.
          if (again && turn === last && edited?.turn === turn) {
            const send = (text: string) => void askAgain({ turn, text });
            const editor = { text: edited.text, isAskable: again.isAskable, onSend: send, onCancel: cancel };
            return <QuestionEditor key={index} {...editor} />;
          }
          const waiting = answering && index === turns.length - 1;
          return (
            <ConversationTurn key={index} turn={turn} waiting={waiting}>
              {turn.role === 'assistant' && turn.content && !waiting && (
                <CopyButton text={turn.content} label="Copy the answer" />
              )}
              {again && last && index === turns.length - 1 && (
                <Regenerate disabled={!again.isAskable} onClick={() => void askAgain()} />
              )}
              {turn === last && !turn.results && (
                <Edit ref={editButton} onClick={() => setEdited({ turn, text: turn.content })} />
              )}
            </ConversationTurn>
          );
        })}
        {again && calls && <CallResults {...{ calls, again, results, onChange: setResults }} />}
      </div>
    </div>
  );
}

function NothingSaid({ modelName }: Pick<Props, 'modelName'>) {
  return (
    <p className="m-auto max-w-sm text-balance text-center text-muted">
      Ask <span className="font-mono text-[0.8125rem]">{modelName}</span> something.
    </p>
  );
}

type ActionProps = Pick<ComponentProps<typeof Button>, 'ref' | 'disabled' | 'onClick'>;

function Regenerate(props: ActionProps) {
  const label = 'Regenerate the answer';
  return (
    <Tooltip content={label}>
      <Button variant="ghost" size="icon-sm" aria-label={label} {...props}>
        <RefreshCw aria-hidden />
      </Button>
    </Tooltip>
  );
}

function Edit(props: ActionProps) {
  const label = 'Edit the question';
  return (
    <Tooltip content={label}>
      <Button variant="ghost" size="icon-sm" aria-label={label} {...props}>
        <Pencil aria-hidden />
      </Button>
    </Tooltip>
  );
}

type ConversationTurnProps = {
  turn: Turn;
  /** More text may arrive. */
  waiting: boolean;
};

/** A question or an answer with its actions. */
function ConversationTurn({ turn, waiting, children }: ConversationTurnProps & { children?: ReactNode }) {
  const own = turn.role === 'user';
  return (
    <div className={cx('flex max-w-[85%] flex-col gap-1', own ? 'self-end' : 'self-start')}>
      <TurnText turn={turn} waiting={waiting} />
      <div className={cx('flex flex-wrap gap-0.5 empty:hidden', own && 'justify-end')}>{children}</div>
    </div>
  );
}

/** A tool call with its arguments, or its result. */
function Said({ title, text }: { title: string; text: string }) {
  return (
    <section className="my-1 min-w-0">
      <h3 className="flex items-center gap-1.5 font-medium text-[0.8125rem]">
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
    <div className="my-1.5 text-[0.8125rem] text-muted">
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

type CallResultsProps = {
  calls: ChatCall[];
  again: {
    /** The settings are valid. */
    isAskable: boolean;
    answerCalls: (results: NonNullable<Turn['results']>) => Promise<boolean>;
  };
  /** Typed results by call id. They stay while the request is in flight. */
  results: Record<string, string>;
  onChange: (results: Record<string, string>) => void;
};

/** Lets the user enter the results of the last answer's tool calls; the model then continues. */
function CallResults({ calls, again: { isAskable, answerCalls }, results, onChange }: CallResultsProps) {
  const isWhole = calls.every(({ id }) => results[id]?.trim());

  function submit(event: FormEvent) {
    event.preventDefault();
    if (isWhole && isAskable)
      void answerCalls(calls.map(({ id, name }) => ({ id, name, content: results[id] ?? '' })));
  }

  return (
    <form onSubmit={submit} className="flex w-full max-w-[85%] flex-col gap-3 self-start">
      {calls.map(({ id, name }) => (
        <Field key={id} label={<>Result of {name}</>}>
          <Textarea
            rows={2}
            dir="auto"
            className="min-h-14 font-mono text-xs"
            placeholder="What the function returned"
            value={results[id] ?? ''}
            onChange={(event) => onChange({ ...results, [id]: event.target.value })}
          />
        </Field>
      ))}
      <Button
        size="sm"
        variant="primary"
        type="submit"
        disabled={!isWhole || !isAskable}
        className="self-end"
      >
        {calls.length > 1 ? 'Send the results' : 'Send the result'}
      </Button>
    </form>
  );
}

type QuestionEditorProps = {
  text: string;
  /** The settings are valid. */
  isAskable: boolean;
  onSend: (question: string) => void;
  onCancel: () => void;
};

/** Edits the last question: Enter sends it, Escape cancels. */
function QuestionEditor({ text, isAskable, onSend, onCancel }: QuestionEditorProps) {
  const [draft, setDraft] = useState(text);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, [text]);

  function submit(event: FormEvent) {
    event.preventDefault();
    if (draft.trim() !== '' && isAskable) onSend(draft.trim());
  }

  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>) {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') onCancel();
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  }

  return (
    <form onSubmit={submit} className="flex w-full max-w-[85%] flex-col gap-2 self-end">
      <Textarea
        ref={field}
        aria-label="Your question"
        dir="auto"
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <p className="min-w-0 flex-1 px-1 text-muted text-xs">This replaces the current answer.</p>
        <Button size="sm" onClick={onCancel}>
          Cancel
        </Button>
        <Button size="sm" variant="primary" type="submit" disabled={draft.trim() === '' || !isAskable}>
          Send again
        </Button>
      </div>
    </form>
  );
}
