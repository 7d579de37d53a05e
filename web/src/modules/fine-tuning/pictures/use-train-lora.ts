import type { DiffusionValidation } from '@bakehouse/contract/diffusion-training';
import { type Dispatch, useEffect, useReducer, useState } from 'react';
import { isRefused, useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { isPriceChange } from '../../../lib/api/is-price-change.ts';
import { errorMessage, notify } from '../../../ui/notify.ts';
import { useLackOfCredit } from '../wizard/use-lack-of-credit.ts';
import { LORA_TOAST, useStartLora, useValidateLora } from './picture-calls.ts';
import {
  choiceOf,
  initialLora,
  type LoraAction,
  type LoraProblems,
  type LoraState,
  loraReducer,
  problemsOf,
} from './train-lora-state.ts';

export type TrainLora = {
  state: LoraState;
  /** Errors to show now. */
  problems: LoraProblems;
  /** A request is in flight: submitting again does nothing. */
  busy: boolean;
  validation: DiffusionValidation | undefined;
  /** Error message if the balance is too low to start. */
  lack: string | null;
  priceChanged: boolean;
  canStart: boolean;
  dispatch: Dispatch<LoraAction>;
  goOn: () => void;
};

/** Returns the wizard's state and actions. `onStarted` receives the run's id. */
export function useTrainLora(datasetId: string | undefined, onStarted: (runId: string) => void): TrainLora {
  const [state, dispatch] = useReducer(loraReducer, { ...initialLora, datasetId: datasetId ?? null });
  const [validation, setValidation] = useState<DiffusionValidation>();
  const check = useValidateLora();
  const start = useStartLora();
  const keys = useIdempotencyKeys('lora');
  const lack = useLackOfCredit(validation, state.ceiling);
  const problems = problemsOf(state);
  const busy = check.isPending || start.isPending;
  const canStart = state.step < 2 || (lack === null && validation?.critical_errors.length === 0);
  useEffect(() => notify.dismiss(LORA_TOAST), [state.step]);

  function validate() {
    const choice = choiceOf(state);
    if (!choice) return;
    check.mutate(choice, {
      onSuccess: (answer) => {
        setValidation(answer);
        // The review shows which pictures can't be used, even if nothing can start.
        if (answer.data || answer.critical_errors.length === 0) dispatch({ do: 'continue' });
        else
          notify.failure('Validation Failed', {
            description: answer.critical_errors.join(' '),
            id: LORA_TOAST,
          });
      },
    });
  }

  function begin() {
    const choice = choiceOf(state);
    if (!choice || !validation) return;
    const asked = { choice, title: state.name.trim(), ceiling: state.ceiling };
    start.mutate(
      { ...asked, shown: validation.cost_estimate, idempotencyKey: keys.keyFor(asked) },
      {
        onSuccess: ({ run_id }) => onStarted(run_id),
        onError: (error) => {
          if (isRefused(error)) keys.renew(asked);
          if (isPriceChange(error)) check.mutate(choice, { onSuccess: setValidation });
        },
      },
    );
  }

  function continueToNextStep() {
    if (busy || !canStart) return;
    if (Object.keys(problems).length > 0 || state.step === 0) dispatch({ do: 'continue' });
    else if (state.step === 1) validate();
    else begin();
  }

  return {
    state,
    problems: state.attempts > 0 ? problems : {},
    busy,
    validation,
    lack:
      lack ??
      (start.error && !isPriceChange(start.error) && state.step === 2 ? errorMessage(start.error) : null),
    priceChanged: isPriceChange(start.error),
    canStart,
    dispatch: (action) => {
      if (action.do !== 'continue') start.reset();
      dispatch(action);
    },
    goOn: continueToNextStep,
  };
}
