import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { Button } from '../../../ui/button.tsx';
import { focusFirstInvalid } from '../../../ui/focus-first-invalid.ts';
import { Money } from '../../../ui/money.tsx';
import { Sheet } from '../../../ui/sheet.tsx';
import { Stepper } from '../../../ui/stepper.tsx';
import { type SheetDraft, useSheetDraft } from '../../../ui/use-sheet-draft.ts';
import { holdAtStart } from '../wizard/review/agreed-cost.ts';
import { PicturesStep } from './steps/pictures-step.tsx';
import { ReviewStep } from './steps/review-step.tsx';
import { TrainingStep } from './steps/training-step.tsx';
import { steps } from './train-lora-state.ts';
import { type TrainLora, useTrainLora } from './use-train-lora.ts';

type Wanted = { dataset?: string | undefined };
type Props = Wanted & { open: boolean; onClose: () => void };

const FORM_ID = 'train-lora';

/** Wizard for training a LoRA on pictures. Leaving the page keeps its state; closing it starts over. */
export function TrainLoraSheet({ open, onClose, dataset }: Props) {
  const { key, ...round } = useSheetDraft<Wanted>(
    open,
    { dataset },
    (wanted, begun) => wanted.dataset === undefined || wanted.dataset === begun.dataset,
  );
  return <WizardSheet key={key} open={open} onClose={onClose} {...round} />;
}

type WizardProps = Omit<SheetDraft<Wanted>, 'key'> & { open: boolean; onClose: () => void };

function WizardSheet({ open, onClose, begunWith, onDraft }: WizardProps) {
  const navigate = useNavigate();
  const wizard = useTrainLora(begunWith.dataset, (id) => {
    onDraft(null);
    void navigate({ to: '/runs/$id', params: { id }, replace: true });
  });
  const { state } = wizard;
  const dirty = state.step > 0 || state.name !== '';
  useEffect(() => {
    if (open) onDraft(dirty ? begunWith : null);
  }, [open, dirty, begunWith, onDraft]);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (state.attempts > 0 && form.current) focusFirstInvalid(form.current);
  }, [state.attempts]);
  const shown = useRef(state.step);
  useEffect(() => {
    if (shown.current === state.step) return;
    shown.current = state.step;
    // The focused button was removed with its step.
    form.current?.focus({ preventScroll: true });
    form.current?.parentElement?.scrollTo({ top: 0 });
  }, [state.step]);
  const Step = [PicturesStep, TrainingStep, ReviewStep][state.step] ?? PicturesStep;
  return (
    <Sheet
      open={open}
      onClose={() => {
        onDraft(null);
        onClose();
      }}
      title="Train a LoRA"
      size="lg"
      dirty={dirty}
      subheader={<Stepper steps={[...steps]} current={state.step} />}
      footer={<Footer wizard={wizard} />}
    >
      <form
        id={FORM_ID}
        ref={form}
        tabIndex={-1}
        className="outline-none"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          wizard.goOn();
        }}
      >
        <Step wizard={wizard} />
      </form>
    </Sheet>
  );
}

const labels = ['Continue', 'Continue', 'Start training'] as const;

function Footer({ wizard }: { wizard: TrainLora }) {
  const { state, busy, validation, priceChanged, canStart, dispatch } = wizard;
  return (
    <>
      {state.step > 0 && (
        <Button className="mr-auto" disabled={busy} onClick={() => dispatch({ do: 'back' })}>
          Back
        </Button>
      )}
      {state.step === 2 && validation && (
        <span className="text-compact text-muted">
          <span role="status">{priceChanged && 'The price has changed. '}</span>
          Held at start: <Money bgl={holdAtStart(validation, state.ceiling)} />
        </span>
      )}
      {/* The key remounts the button per step, so that a double click doesn't press the next step's one. */}
      <Button
        key={state.step}
        variant="primary"
        type="submit"
        form={FORM_ID}
        disabled={!canStart}
        loading={busy}
      >
        {labels[state.step]}
      </Button>
    </>
  );
}
