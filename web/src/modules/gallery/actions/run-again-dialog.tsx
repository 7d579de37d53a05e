import { clampNumber } from '@bakehouse/contract/fields/number-field';
import type { Generation } from '@bakehouse/contract/generations';
import { paris } from '@bakehouse/contract/generators/paris';
import { type FormEvent, useId, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { NumberField } from '../../../ui/number-field.tsx';
import { RadioCards } from '../../../ui/radio-cards.tsx';
import { useUser } from '../../accounts/session.ts';
import { useQuote, useStartGeneration } from '../generation-calls.ts';
import { useRecentGenerations } from '../generation-queries.ts';
import { alreadyGeneratingMessage, isUnderWay } from '../generation-sentences.ts';
import { Price } from '../view/price.tsx';
import { type Strategy, withOtherExperts } from './with-other-experts.ts';

type Props = { generation: Generation; onClose: () => void; onStarted: (started: Generation) => void };

const strategies = [
  {
    value: 'top1',
    label: 'The best one',
    description: 'At each step, only the expert that the router ranks highest.',
  },
  { value: 'topk', label: 'The best few', description: 'Several experts, combined by weight.' },
  { value: 'full', label: 'All eight', description: 'Every expert at every step. The slowest choice.' },
] as const;

const howMany = paris.fields.find((field) => field.kind === 'number' && field.name === 'k');

/** Default number of experts. */
const COUNT = 2;

/** Repeats a generation with other experts of the same model, to compare the two pictures. */
export function RunAgainDialog({ generation, onClose, onStarted }: Props) {
  const form = useId();
  const [strategy, setStrategy] = useState<Strategy>(
    generation.parameters.sampling_strategy === 'top1' ? 'topk' : 'top1',
  );
  const [k, setK] = useState<number | null>(COUNT);
  const [sameSeed, setSameSeed] = useState(true);
  const [refused, setRefused] = useState(false);
  const start = useStartGeneration();
  // Clamped like the form's field, which clamps on blur; the request never sends the raw number.
  const count = howMany?.kind === 'number' ? clampNumber(howMany, k ?? COUNT) : COUNT;
  const parameters = withOtherExperts(generation, { strategy, k: count, sameSeed });
  // The user's own deployment and the starter make different pictures.
  const asked = { generator: generation.generator, model: generation.model, parameters };
  const quote = useQuote(asked, true);
  const busy = useRecentGenerations(useUser().id).some(
    (one) => one.generator === generation.generator && isUnderWay(one),
  );

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setK(count);
    setRefused(busy);
    if (busy || start.isPending) return;
    const { shownCost } = quote;
    start.mutate({ ...asked, prompt: generation.prompt, shownCost }, { onSuccess: onStarted });
  }

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Run again with other experts"
      description="Everything else stays the same, for comparison."
      footer={
        <>
          <Price quote={quote} className="mr-auto" />
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} variant="primary" loading={start.isPending}>
            Generate
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="grid gap-4">
        <RadioCards aria-label="Experts" value={strategy} onChange={setStrategy} options={strategies} />
        {strategy === 'topk' && (
          <div onBlur={() => setK(count)}>
            <Field label="Number of experts">
              <NumberField value={k} onChange={setK} min={1} max={8} />
            </Field>
          </div>
        )}
        <Checkbox checked={sameSeed} onChange={setSameSeed} label="Start from the same seed" />
        {refused && busy && <Callout tone="bad">{alreadyGeneratingMessage(generation.generator)}</Callout>}
      </form>
    </Dialog>
  );
}
