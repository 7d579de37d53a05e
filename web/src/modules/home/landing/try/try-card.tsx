import type { VisitorTryState } from '@bakehouse/contract/visitors';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../../../ui/button.tsx';
import { Input } from '../../../../ui/input.tsx';
import { errorMessage } from '../../../../ui/notify.ts';

const waits: Record<Exclude<VisitorTryState, 'ready'>, string> = {
  preparing: 'The starter model is being prepared',
  off: 'Sign up to try this',
};

type Props = {
  title: string;
  /** Undefined until it is known. */
  state: VisitorTryState | undefined;
  /** What is made, above the input; while it cannot be tried, why. */
  children: ReactNode;
  label: string;
  placeholder: string;
  maxLength: number;
  submit: string;
  isBusy: boolean;
  error: Error | null;
  /** Below the input. */
  note: ReactNode;
  /** What is offered to start with. */
  examples: readonly string[];
  onSubmit: (text: string, on: { onError: () => void }) => void;
};

/** One thing to try: what comes of it, and one line to ask for it. */
export function TryCard({ title, state, children, examples, note, onSubmit, ...form }: Props) {
  const { label, placeholder, maxLength, submit, isBusy, error } = form;
  const [text, setText] = useState('');
  const isReady = state === 'ready';
  const ask = (wanted: string) => {
    if (!isReady || isBusy || wanted.trim() === '') return;
    setText('');
    // What is refused can be sent again.
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
          aria-label={label}
          placeholder={placeholder}
          maxLength={maxLength}
          value={text}
          disabled={!isReady}
          onChange={({ target }) => setText(target.value)}
        />
        <Button type="submit" variant="primary" loading={isBusy} disabled={!isReady}>
          {submit}
        </Button>
      </form>
      <p role={error ? 'alert' : undefined} className="min-h-4 text-[0.8125rem] text-muted leading-4">
        {error ? errorMessage(error) : note}
      </p>
    </section>
  );
}
