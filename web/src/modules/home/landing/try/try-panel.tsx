import { paris } from '@bakehouse/contract/generators/paris';
import {
  VISITOR_PROMPT_LENGTH_MAX,
  VISITOR_QUESTION_LENGTH_MAX,
  type VisitorPicture,
  type VisitorTryState,
} from '@bakehouse/contract/visitors';
import { Link } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { cx } from '../../../../lib/cx.ts';
import { Button } from '../../../../ui/button.tsx';
import { Input } from '../../../../ui/input.tsx';
import { errorMessage } from '../../../../ui/notify.ts';
import { useStickToBottom } from '../../../../ui/placement.ts';
import { ProductPicture } from '../../../../ui/product-picture.tsx';
import { Progress } from '../../../../ui/progress.tsx';
import { useGuestStarters, useVisitorChat, useVisitorPicture } from './guest-results.ts';

const waits: Record<Exclude<VisitorTryState, 'ready'>, string> = {
  preparing: 'The starter model is being prepared',
  off: 'Sign up to try this',
};

const EXAMPLES_MAX = 2;

/** Alt text of the picture shown if nothing can be tried. */
const RUN_ALT =
  'A finished fine-tune: its losses, how long it took, what it cost, and its answers beside those of the base model';

const OFF = { picture: 'off', chat: 'off' } as const;
const UNKNOWN = { picture: undefined, chat: undefined };

/** Lets visitors try the starter models without an account: a picture and a question. */
export function TryPanel() {
  const { data, isError } = useGuestStarters();
  const { picture, chat } = isError ? OFF : (data ?? UNKNOWN);
  if (picture === 'off' && chat === 'off') return <ProductPicture first name="run" alt={RUN_ALT} />;
  return (
    <div className="grid gap-4 sm:h-[31rem] sm:grid-cols-2 sm:grid-rows-[minmax(0,1fr)]">
      <TryPicture state={picture} />
      <TryChat state={chat} model={data?.chat_model} />
    </div>
  );
}

/** A conversation with the starter language model. */
export function TryChat({ state, model }: { state: VisitorTryState | undefined; model: string | undefined }) {
  const { said, ask, isAnswering, error } = useVisitorChat(model);
  const { box, content: end, onScroll } = useStickToBottom();
  return (
    <TryCard
      title="Ask a question"
      state={state}
      examples={['What is sourdough?', 'Name three breads']}
      label="Question"
      placeholder="Ask anything"
      maxLength={VISITOR_QUESTION_LENGTH_MAX}
      submit="Ask"
      isBusy={isAnswering}
      error={error}
      emptyProblem="Ask a question first"
      note={
        said.length > 0 ? (
          <SignUpLink>Sign up to continue this conversation</SignUpLink>
        ) : (
          `Starter model ${model ?? ''}`
        )
      }
      onSubmit={ask}
    >
      <div
        ref={box}
        onScroll={onScroll}
        role="log"
        aria-label="Conversation"
        tabIndex={0}
        className="h-full overflow-y-auto p-3"
      >
        {said.length === 0 && (
          <p className="flex h-full items-center justify-center text-center text-muted">
            It answers on this server; nothing is sent elsewhere.
          </p>
        )}
        <div ref={end}>
          <ol className="grid gap-2">
            {said.map(({ role, content }, at) => (
              <li
                key={at}
                className={cx(
                  'w-fit max-w-[90%] whitespace-pre-wrap rounded-lg px-3 py-2 [overflow-wrap:anywhere]',
                  role === 'user' ? 'ml-auto bg-accent-soft text-accent-text' : 'bg-surface shadow-card',
                )}
              >
                {content || '…'}
              </li>
            ))}
          </ol>
        </div>
      </div>
    </TryCard>
  );
}

/** A picture by the Paris starter, shown while it is generated. */
export function TryPicture({ state }: { state: VisitorTryState | undefined }) {
  const { generate, picture, isBusy, error } = useVisitorPicture();
  return (
    <TryCard
      title="Generate a picture"
      state={state}
      examples={paris.examples?.slice(0, EXAMPLES_MAX) ?? []}
      label="Prompt"
      placeholder="a rocket in the sky"
      maxLength={VISITOR_PROMPT_LENGTH_MAX}
      submit="Generate"
      isBusy={isBusy}
      error={error}
      emptyProblem="Describe a picture first"
      keepsText
      note={
        picture?.url ? <SignUpLink>Sign up to keep it</SignUpLink> : `Starter model, ${paris.starter?.limits}`
      }
      onSubmit={generate}
    >
      {picture ? <Shown picture={picture} /> : <Nothing />}
    </TryCard>
  );
}

function Nothing() {
  return (
    <p className="flex h-full items-center justify-center p-6 text-center text-muted">
      Describe one thing. It takes a few seconds.
    </p>
  );
}

function Shown({
  picture: { url, preview, prompt, state, reason, step, steps },
}: {
  picture: VisitorPicture;
}) {
  const source = url ?? preview;
  const isUnderWay = url === null && state !== 'failed' && state !== 'cancelled';
  return (
    <div className="flex h-full flex-col">
      {source ? (
        <img src={source} alt={prompt} className="min-h-0 w-full flex-1 object-contain" />
      ) : (
        <p className="flex flex-1 items-center justify-center p-6 text-center text-muted">{reason}</p>
      )}
      {isUnderWay && (
        <Progress
          value={steps > 0 ? (100 * step) / steps : null}
          label="Generating"
          aside={step > 0 ? `Step ${step} of ${steps}` : ''}
          className="px-3 py-2"
        />
      )}
    </div>
  );
}

type Props = {
  title: string;
  /** Undefined while loading. */
  state: VisitorTryState | undefined;
  /** The result above the input, or why it is not available. */
  children: ReactNode;
  label: string;
  placeholder: string;
  maxLength: number;
  submit: string;
  isBusy: boolean;
  error: Error | null;
  /** Below the input. */
  note: ReactNode;
  /** Error for empty input. */
  emptyProblem: string;
  /** Keeps the text in the input. */
  keepsText?: boolean;
  /** Suggested inputs. */
  examples: readonly string[];
  onSubmit: (text: string, on: { onError: () => void }) => void;
};

/** One thing to try: its result and an input. */
function TryCard({ title, state, children, examples, note, onSubmit, ...form }: Props) {
  const { label, placeholder, maxLength, submit, isBusy, error, emptyProblem, keepsText = false } = form;
  const [text, setText] = useState('');
  const [isMissing, setMissing] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const isReady = state === 'ready';
  const ask = (wanted: string) => {
    if (!isReady || isBusy) return;
    setMissing(wanted.trim() === '');
    if (wanted.trim() === '') return input.current?.focus();
    setText(keepsText ? wanted : '');
    // A rejected request can be sent again.
    onSubmit(wanted.trim(), { onError: () => setText((typed) => typed || wanted) });
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    ask(text);
  };
  return (
    <section aria-label={title} className="card flex h-[26rem] min-w-0 flex-col gap-3 p-4 sm:h-auto">
      <h2 className="font-medium">{title}</h2>
      <div className="min-h-0 flex-1 overflow-hidden rounded-lg bg-subtle">
        {isReady ? (
          children
        ) : (
          <p className="flex h-full items-center justify-center p-6 text-center text-muted">
            {state && waits[state]}
          </p>
        )}
      </div>
      <ul className="flex min-h-7 flex-wrap gap-1.5">
        {examples.map((example) => (
          <li key={example}>
            <Button size="sm" disabled={!isReady || isBusy} onClick={() => ask(example)}>
              {example}
            </Button>
          </li>
        ))}
      </ul>
      <form onSubmit={send} className="flex gap-2">
        <Input
          ref={input}
          aria-label={label}
          placeholder={placeholder}
          maxLength={maxLength}
          value={text}
          disabled={!isReady}
          onChange={({ target }) => {
            setText(target.value);
            setMissing(false);
          }}
        />
        <Button type="submit" variant="primary" loading={isBusy} disabled={!isReady}>
          {submit}
        </Button>
      </form>
      <p
        role={error || isMissing ? 'alert' : undefined}
        className={cx('min-h-4 text-[0.8125rem] leading-4', isMissing ? 'text-bad' : 'text-muted')}
      >
        {isMissing ? emptyProblem : error ? errorMessage(error) : note}
      </p>
    </section>
  );
}

/** Links to the form below or next to it. */
function SignUpLink({ children }: { children: string }) {
  return (
    <Link
      to="/"
      // An invitation already shows the sign-up form.
      search={(before) => (before.referral_code ? before : { form: 'sign-up' as const })}
      hash="sign-in"
      replace
      className="rounded font-medium text-accent-text underline underline-offset-2"
    >
      {children}
    </Link>
  );
}
