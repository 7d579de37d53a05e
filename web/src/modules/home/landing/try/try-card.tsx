import type { VisitorTryState } from '@bakehouse/contract/visitors';
import { Link } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { cx } from '../../../../lib/cx.ts';
import { Button } from '../../../../ui/button.tsx';
import { Input } from '../../../../ui/input.tsx';
import { errorMessage } from '../../../../ui/notify.ts';

const waits: Record<Exclude<VisitorTryState, 'ready'>, string> = {
  preparing: 'The starter model is being prepared',
  off: 'Sign up to try this',
};

type Props = {
  title: string;
  /** Undefined while loading. */
  state: VisitorTryState | undefined;
  /** The result above the input; an example before the first one. */
  children: ReactNode;
  label: string;
  placeholder: string;
  maxLength: number;
  submit: string;
  isBusy: boolean;
  error: Error | null;
  /** Below the input, if the starter is available. */
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
export function TryCard({ title, state, children, examples, note, onSubmit, ...form }: Props) {
  const { label, placeholder, maxLength, submit, isBusy, error, emptyProblem, keepsText = false } = form;
  const [text, setText] = useState('');
  const [isMissing, setMissing] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const isReady = state === 'ready';
  const sendText = (wanted: string) => {
    if (!isReady || isBusy) return;
    setMissing(wanted.trim() === '');
    if (wanted.trim() === '') return input.current?.focus();
    setText(keepsText ? wanted : '');
    // A rejected request can be sent again.
    onSubmit(wanted.trim(), { onError: () => setText((typed) => typed || wanted) });
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    sendText(text);
  };
  return (
    <section aria-label={title} className="card flex h-104 min-w-0 flex-col gap-3 p-4 sm:h-auto">
      <h2 className="font-medium">{title}</h2>
      <div className="min-h-0 flex-1 overflow-hidden rounded-lg bg-subtle">{children}</div>
      <ul className="flex min-h-7 flex-wrap gap-1.5">
        {examples.map((example) => (
          <li key={example}>
            <Button size="sm" disabled={!isReady || isBusy} onClick={() => sendText(example)}>
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
        className={cx('min-h-4 text-compact leading-4', isMissing ? 'text-bad' : 'text-muted')}
      >
        {isMissing ? emptyProblem : error ? errorMessage(error) : state && !isReady ? waits[state] : note}
      </p>
    </section>
  );
}

/** Links to the form below or next to it. */
export function SignUpLink({ children }: { children: string }) {
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
