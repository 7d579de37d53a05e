import { CornerDownLeft, RotateCcw, Square } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { countOf } from '../../lib/count-of.ts';
import { cx } from '../../lib/cx.ts';
import { Button } from '../../ui/button.tsx';
import { Callout } from '../../ui/callout.tsx';
import { Field } from '../../ui/field.tsx';
import { Money } from '../../ui/money.tsx';
import { NumberField } from '../../ui/number-field.tsx';
import { Textarea } from '../../ui/textarea.tsx';
import { type ServingDevice, useServingPrice } from './serving-prices.ts';
import { type Turn, useConversation } from './use-conversation.ts';

const defaults = { temperature: 0, max_tokens: 256 };

type Props = {
  modelName: string;
  /** Where it is served: sets the price of its tokens. */
  device: ServingDevice | undefined;
};

/** Chat with one model as it streams. Enter sends, Shift and Enter starts a line. */
export function Playground({ modelName, device }: Props) {
  const [draft, setDraft] = useState('');
  const [system, setSystem] = useState('');
  const [options, setOptions] = useState(defaults);
  const { turns, error, answering, ask, stop, clear } = useConversation(modelName, { system, options });
  const log = useRef<HTMLDivElement>(null);

  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight });
  }, [turns]);
  // An answer may have grown while another tab was shown.
  useEffect(() => {
    const shown = new ResizeObserver(([entry]) => entry?.target.scrollTo({ top: entry.target.scrollHeight }));
    if (log.current) shown.observe(log.current);
    return () => shown.disconnect();
  }, []);

  async function send(question: string) {
    setDraft('');
    const answered = await ask(question);
    // Nothing typed is lost: an unanswered question goes back into the field.
    if (!answered) setDraft((typed) => typed || question);
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    if (!answering && draft.trim()) void send(draft.trim());
  }

  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>) {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  }

  return (
    <div className="grid gap-5 lg:grid-cols-[minmax(0,1fr)_14rem]">
      <div className="flex min-w-0 flex-col gap-3">
        <div
          ref={log}
          role="log"
          aria-label="Conversation"
          aria-busy={answering}
          tabIndex={0}
          className="flex max-h-[28rem] min-h-40 lg:min-h-72 flex-col gap-4 overflow-y-auto rounded-xl bg-subtle p-4"
        >
          {turns.length === 0 && (
            <p className="m-auto max-w-sm text-balance text-center text-muted">
              Ask something. The answer streams from{' '}
              <span className="font-mono text-[0.8125rem]">{modelName}</span>.
            </p>
          )}
          {turns.map((turn, index) => (
            // Turns are only ever added at the end.
            <TurnView key={index} turn={turn} waiting={answering && index === turns.length - 1} />
          ))}
        </div>
        {error && (
          <Callout tone="bad" title="The model did not answer">
            {error}
          </Callout>
        )}
        <form onSubmit={submit} className="flex items-end gap-2">
          <Textarea
            aria-label="Message"
            rows={2}
            value={draft}
            onChange={(event) => setDraft(event.target.value)}
            onKeyDown={onKeyDown}
            placeholder="Ask a question"
          />
          {answering ? (
            <Button size="icon" aria-label="Stop" onClick={stop}>
              <Square aria-hidden />
            </Button>
          ) : (
            <Button size="icon" variant="primary" type="submit" aria-label="Send" disabled={!draft.trim()}>
              <CornerDownLeft aria-hidden />
            </Button>
          )}
        </form>
        <TokenPrices device={device} />
      </div>
      <div className="flex flex-col gap-4">
        <Field label="System prompt" aside="Optional">
          <Textarea rows={3} value={system} onChange={(event) => setSystem(event.target.value)} />
        </Field>
        <Field label="Temperature" help="0 answers the same every time.">
          <NumberField
            value={options.temperature}
            min={0}
            max={2}
            step={0.1}
            onChange={(value) => setOptions({ ...options, temperature: value ?? defaults.temperature })}
          />
        </Field>
        <Field label="Most tokens">
          <NumberField
            value={options.max_tokens}
            min={1}
            max={2048}
            step={64}
            onChange={(value) => setOptions({ ...options, max_tokens: value ?? defaults.max_tokens })}
          />
        </Field>
        <Button variant="ghost" disabled={turns.length === 0 || answering} onClick={clear}>
          <RotateCcw aria-hidden />
          New conversation
        </Button>
      </div>
    </div>
  );
}

/** What asking costs. */
function TokenPrices({ device }: Pick<Props, 'device'>) {
  const read = useServingPrice('prompt_tokens', device);
  const written = useServingPrice('completion_tokens', device);
  if (!read || !written) return null;
  return (
    <p className="text-muted text-xs">
      A million tokens cost <Money bgl={read} /> to read and <Money bgl={written} /> to write.
    </p>
  );
}

function TurnView({ turn, waiting }: { turn: Turn; waiting: boolean }) {
  const own = turn.role === 'user';
  return (
    <div className={cx('flex max-w-[85%] flex-col gap-1', own ? 'self-end' : 'self-start')}>
      <p
        className={cx(
          'whitespace-pre-wrap rounded-xl px-3.5 py-2 [overflow-wrap:anywhere]',
          own ? 'bg-accent-soft text-ink' : 'bg-surface shadow-card',
        )}
      >
        {turn.content || (waiting ? <span className="text-muted">Waiting for the first token…</span> : '')}
      </p>
      {turn.speed && (
        <p className="px-1 text-muted text-xs tabular-nums">
          {countOf(turn.speed.tokens, 'token')} · first after {Math.round(turn.speed.firstTokenMs)} ms
          {turn.speed.tokensPerSecond && ` · ${turn.speed.tokensPerSecond.toFixed(0)} tokens/s`}
        </p>
      )}
    </div>
  );
}
