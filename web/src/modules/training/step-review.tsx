import { formatBytes } from '@bakehouse/contract/limits';
import type { FineTuneValidation } from '@bakehouse/contract/training';
import { Save } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { showAmount } from '../../lib/currency.ts';
import { aboutDuration } from '../../lib/format-time.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Callout } from '../../ui/callout.tsx';
import { Disclosure } from '../../ui/disclosure.tsx';
import { Figure } from '../../ui/figure.tsx';
import { Input } from '../../ui/input.tsx';
import { Money } from '../../ui/money.tsx';
import { errorMessage, notify } from '../../ui/notify.ts';
import { gpusHere, useMachine } from '../machine/api.ts';
import type { FineTuneChoice } from './api.ts';
import { CeilingField } from './ceiling-field.tsx';
import { useSaveConfiguration } from './configurations.ts';
import { holdAtStart, type WizardState } from './create-model-wizard-state.ts';
import { SampleList } from './sample-list.tsx';
import { TokenHistogram } from './token-histogram.tsx';

type Props = {
  state: WizardState;
  validation: FineTuneValidation;
  choice: FineTuneChoice;
  /** The server's refusal to start for want of credit. */
  unaffordable: Error | null;
  /** What is wrong with the ceiling, once it was tried. */
  ceilingProblem: string | undefined;
  onCeiling: (ceiling: string) => void;
};

/** What will be trained, on what, where, and what it costs: the same quote that is held. */
export function StepReview({ state, validation, choice, unaffordable, ceilingProblem, onCeiling }: Props) {
  const { cost_estimate: cost, data, placement, warnings, recommendations } = validation;
  const machine = useMachine();
  const here = machine.data && gpusHere(machine.data);
  // A GPU that is not there helps nobody.
  const recommended = recommendations.recommended_gpus.filter(({ gpu_type }) => here?.has(gpu_type));
  return (
    <div className="flex flex-col gap-6">
      {unaffordable && (
        <Callout
          tone="bad"
          title={errorMessage(unaffordable)}
          action={
            <ButtonLink size="sm" to="/buy-bagels">
              Purchase Fine-tune Credits
            </ButtonLink>
          }
        >
          Nothing has started. Your choices stay here until you close this panel.
        </Callout>
      )}
      <section className="rounded-xl bg-accent-soft px-5 py-4">
        <h3 className="font-medium text-[0.8125rem] text-accent-text">Cost estimate</h3>
        <p className="mt-1 flex flex-wrap items-baseline gap-x-3">
          <Money bgl={cost.quote.total} className="font-semibold text-2xl" />
          <span className="text-muted tabular-nums">
            {showAmount(cost.quote.total, 'BGL')} · {aboutDuration(cost.duration_hours * 3600)}
          </span>
        </p>
        <ul className="mt-3 flex flex-col gap-1 text-[0.8125rem]">
          {cost.quote.items.map((item) => (
            <li key={item.label} className="flex justify-between gap-4">
              <span>
                {item.label}
                <span className="text-muted tabular-nums">
                  {' '}
                  · {item.quantity.toLocaleString('en', { maximumFractionDigits: 3 })}{' '}
                  {item.unit === 'hour' && item.quantity !== 1 ? 'hours' : item.unit}
                </span>
              </span>
              <Money bgl={item.amount} />
            </li>
          ))}
        </ul>
        {cost.load && <p className="mt-3 text-[0.8125rem] text-muted">{cost.load}</p>}
        <p className="mt-3 text-[0.8125rem] text-muted">
          <Money bgl={holdAtStart(cost.quote.total, state.ceiling)} /> is held when you start. You pay only
          for the time used: the rest is released, and a run that takes longer holds more of your balance as
          it goes, up to its ceiling. You can cancel at any time.
        </p>
        <CeilingField
          className="mt-4 max-w-60"
          value={state.ceiling}
          usual={cost.ceiling}
          error={ceilingProblem}
          onChange={onCeiling}
        />
      </section>

      <Callout>{placement.description}</Callout>
      {warnings.length > 0 && (
        <Callout tone="warn" title="Worth knowing">
          <ul className="list-disc pl-4">
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Callout>
      )}

      {data && (
        <>
          <dl className="grid grid-cols-2 gap-x-6 gap-y-4 sm:grid-cols-4">
            <Figure label="Rows kept">
              {data.rows_kept.toLocaleString('en')} of {data.rows_total.toLocaleString('en')}
            </Figure>
            <Figure label="Rows dropped">{data.rows_dropped.toLocaleString('en')}</Figure>
            <Figure label="Rows cut short">{data.rows_truncated.toLocaleString('en')}</Figure>
            <Figure label="Steps">{data.steps_total.toLocaleString('en')}</Figure>
            <Figure label="Tokens per epoch">{data.train_tokens.toLocaleString('en')}</Figure>
            <Figure label="Examples">
              {data.train_examples} + {data.eval_examples} held out
            </Figure>
            <Figure label="Trainable parameters">{data.trainable_parameters.toLocaleString('en')}</Figure>
            <Figure label="Memory needed">{formatBytes(data.memory_bytes)}</Figure>
          </dl>
          {data.dropped.length > 0 && (
            <Disclosure title={`Dropped rows (${data.rows_dropped})`}>
              <ul className="flex flex-col gap-1 text-[0.8125rem]">
                {data.dropped.map(({ line, reason }) => (
                  <li key={line}>
                    <span className="font-mono">
                      {state.fileName}:{line}
                    </span>{' '}
                    {reason}
                  </li>
                ))}
              </ul>
            </Disclosure>
          )}
          <TokenHistogram bins={data.token_histogram} />
          <SampleList samples={data.samples} format={data.format} />
        </>
      )}
      {recommended.length > 0 && (
        <Disclosure title="Recommended GPUs">
          <ul className="list-disc pl-4">
            {recommended.map(({ description }) => (
              <li key={description}>{description}</li>
            ))}
          </ul>
        </Disclosure>
      )}
      <SaveTemplate choice={choice} />
    </div>
  );
}

/** Keeps the parameters under a name, for Choose Config. */
function SaveTemplate({ choice }: { choice: FineTuneChoice }) {
  const [name, setName] = useState('');
  const save = useSaveConfiguration();
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!name.trim() || save.isPending) return;
    save.mutate(
      { name: name.trim(), choice },
      {
        onSuccess: () => {
          notify.success('Configuration saved');
          setName('');
        },
      },
    );
  }
  return (
    <form onSubmit={submit} className="flex gap-2 border-line border-t pt-5">
      <Input
        aria-label="Template name"
        value={name}
        maxLength={100}
        onChange={(event) => setName(event.target.value)}
        placeholder="Save these parameters as a template"
      />
      <Button type="submit" loading={save.isPending} disabled={!name.trim()}>
        <Save aria-hidden />
        Save
      </Button>
    </form>
  );
}
