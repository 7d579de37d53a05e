import { type RefObject, useEffect, useRef } from 'react';
import { aboutDuration } from '../../../lib/format/format-time.ts';
import { Button } from '../../../ui/button.tsx';
import { focusFirstInvalid } from '../../../ui/focus-first-invalid.ts';
import { Money } from '../../../ui/money.tsx';
import { Sheet } from '../../../ui/sheet.tsx';
import { Stepper } from '../../../ui/stepper.tsx';
import { type SheetDraft, useSheetDraft } from '../../../ui/use-sheet-draft.ts';
import { CreateModelResult } from './create-model-result.tsx';
import type { ModelPreset } from './model-preset.ts';
import { holdAtStart } from './review/agreed-cost.ts';
import { useCreateModel } from './use-create-model.ts';
import { useStepLoading } from './use-step-loading.ts';
import type { Wizard } from './wizard-state.ts';
import { canGoBack, isDirty, stepIndex, stepOf, stepsOf } from './wizard-steps.tsx';

type Props = ModelPreset & { open: boolean; onClose: () => void };

const FORM_ID = 'create-model';

/** Shown while an upload's model is created and its files are sent. */
const sendingQuestion = {
  title: 'Close while the files are being sent?',
  description: 'The upload continues in the background. You will find the model under My Models.',
  action: 'Close',
  cancelLabel: 'Stay here',
  tone: 'primary',
} as const;

/**
 * The Create Model wizard. `dataset`, its file, `baseModel` and `modelType` are preselected by the caller.
 * Leaving the page, to buy credits or by Back, keeps its state. Closing it, or opening it for another dataset
 * or model, starts over.
 */
export function CreateModelSheet({ open, onClose, ...wanted }: Props) {
  const { key, ...round } = useSheetDraft(open, wanted, fits);
  return <WizardSheet key={key} open={open} onClose={onClose} {...round} />;
}

const presetFields = ['dataset', 'dataFile', 'baseModel', 'settings', 'dropped'] as const;

function fits(wanted: ModelPreset, begun: ModelPreset): boolean {
  return presetFields.every((field) => wanted[field] === undefined || wanted[field] === begun[field]);
}

type WizardProps = Omit<SheetDraft<ModelPreset>, 'key'> & { open: boolean; onClose: () => void };

function WizardSheet({ open, onClose, begunWith, onDraft }: WizardProps) {
  const wizard = useCreateModel(begunWith);
  const { state } = wizard;
  const { isOver, step } = state;
  const { Component, isNoForm, asks } = stepOf(state);
  const isQuick = step === 'quick';
  const dirty = isDirty(state);
  // A result that arrives while the sheet is closed is shown on reopening.
  useEffect(() => {
    if (open) onDraft(dirty ? begunWith : null);
  }, [open, dirty, begunWith, onDraft]);
  const close = () => {
    onDraft(null);
    onClose();
  };

  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (state.attempts > 0 && form.current) focusFirstInvalid(form.current);
  }, [state.attempts]);
  useNewStep(form, isOver ? 'result' : step);

  return (
    <Sheet
      open={open}
      onClose={close}
      title={isQuick ? 'Fine-tune' : 'Create Model'}
      description={isOver || isQuick ? undefined : asks}
      size={step === 'parameters' ? 'xl' : 'lg'}
      dirty={state.type === 'upload' && wizard.busy ? sendingQuestion : dirty}
      subheader={
        !isOver &&
        !isQuick && <Stepper steps={stepsOf(state).map(({ label }) => label)} current={stepIndex(state)} />
      }
      footer={!isOver && <Footer wizard={wizard} />}
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
        {!isOver && !isNoForm && <Component wizard={wizard} />}
      </form>
      {!isOver && isNoForm && <Component wizard={wizard} />}
      {isOver && <CreateModelResult wizard={wizard} onClose={close} />}
    </Sheet>
  );
}

function Footer({ wizard }: { wizard: Wizard }) {
  const { id, next } = stepOf(wizard.state);
  const { state, busy, validation, priceChanged, canStart, dispatch } = wizard;
  const isReading = useStepLoading(state);
  return (
    <>
      {canGoBack(state) && (
        <Button className="mr-auto" disabled={busy} onClick={() => dispatch({ do: 'back' })}>
          Back
        </Button>
      )}
      {id === 'quick' && (
        <>
          <Button
            className="mr-auto"
            disabled={busy && validation !== undefined}
            onClick={() => dispatch({ do: 'all settings' })}
          >
            All settings
          </Button>
          <span role="status" className="text-compact text-muted">
            {priceChanged && 'The price has changed.'}
          </span>
        </>
      )}
      {id === 'parameters' && <LivePrice price={wizard.price} />}
      {id === 'review' && validation && (
        <span className="text-compact text-muted">
          <span role="status">{priceChanged && 'The price has changed. '}</span>
          Held at start: <Money bgl={holdAtStart(validation, state.ceiling)} />
        </span>
      )}
      {/* A new key per step, so that a double click doesn't press the next step's button. */}
      <Button
        key={id}
        variant="primary"
        type="submit"
        form={FORM_ID}
        disabled={!canStart}
        loading={busy || isReading}
      >
        {next.label}
      </Button>
    </>
  );
}

/** The price and the duration of the run with the parameters as they are now. */
function LivePrice({ price }: Pick<Wizard, 'price'>) {
  return (
    <span role="status" aria-busy={price?.isStale} className="text-compact text-muted tabular-nums">
      {price?.isStale && 'Calculating the price…'}
      {price?.isStale === false && (
        <>
          About <Money bgl={price.quote.total} />, {aboutDuration(price.duration_hours * 3600)}
        </>
      )}
    </span>
  );
}

/** Scrolls to the top and focuses the form on each step. */
function useNewStep(form: RefObject<HTMLFormElement | null>, step: string): void {
  const shown = useRef(step);
  useEffect(() => {
    if (shown.current === step) return;
    shown.current = step;
    // The focused element was removed with its step; without a new focus, typing would go nowhere. Prevent
    // scrolling, which would skip the sheet's padding.
    form.current?.focus({ preventScroll: true });
    form.current?.parentElement?.scrollTo({ top: 0 });
  }, [form, step]);
}
