import type { DataReading, FineTuneValidation } from '@bakehouse/contract/fine-tuning';
import { useEffect, useEffectEvent, useState } from 'react';
import { notify } from '../../../ui/notify.ts';
import { stopReading, useReading } from '../readings/reading-calls.ts';
import { type FineTuneChoice, useValidateFineTune, WIZARD_TOAST } from './wizard-calls.ts';

export type CheckedChoice = {
  /** The server's response for the current choice. */
  validation: FineTuneValidation | undefined;
  /** The background scan of a long file. */
  reading: DataReading | null;
  isPending: boolean;
  /** Why the last validation got no response. */
  error: Error | null;
  /** Validates a choice; obstacles are shown in a toast. */
  check: (choice: FineTuneChoice, onAccepted: () => void) => void;
  /** Validates again; the last response stays visible until then. */
  checkAgain: () => void;
  /** Cancels the background scan. */
  stopCounting: () => void;
  /** Discards the server's response. */
  reset: () => void;
};

/**
 * Validates a choice on the server, and again after a long file was scanned or its price changed.
 * @param inPlace errors are shown in the form, not in a toast.
 */
export function useCheckedChoice(choice: FineTuneChoice | null, inPlace = false): CheckedChoice {
  const asked = useValidateFineTune(inPlace);
  const [validation, setValidation] = useState<FineTuneValidation>();
  const reading = useReading(validation?.reading ?? null);
  const isRead = reading?.state === 'done' && validation?.reading != null;
  const checkAgain = () => {
    if (choice && !asked.isPending) asked.mutate(choice, { onSuccess: setValidation });
  };
  const countAll = useEffectEvent(checkAgain);
  useEffect(() => {
    if (isRead) countAll();
  }, [isRead]);

  function stopCounting() {
    if (reading?.state === 'reading') void stopReading(reading.reading_id).catch(() => undefined);
  }
  function resetCheck() {
    stopCounting();
    setValidation(undefined);
    asked.reset();
  }
  return {
    validation,
    reading,
    isPending: asked.isPending,
    error: asked.error,
    check: (wanted, onAccepted) => {
      resetCheck();
      asked.mutate(wanted, {
        onSuccess: (answer) => {
          setValidation(answer);
          const [critical] = answer.critical_errors;
          if (critical) notify.failure('Validation Failed', { description: critical, id: WIZARD_TOAST });
          else onAccepted();
        },
      });
    },
    checkAgain,
    stopCounting,
    reset: resetCheck,
  };
}
