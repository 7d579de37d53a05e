import type { DataReading, FineTuneValidation } from '@bakehouse/contract/training';
import { useEffect, useEffectEvent, useState } from 'react';
import { notify } from '../../../ui/notify.ts';
import { stopReading, useReading } from '../readings/reading-calls.ts';
import { type FineTuneChoice, useValidateFineTune, WIZARD_TOAST } from './wizard-calls.ts';

export type CheckedChoice = {
  /** What the server said of the current choice. */
  validation: FineTuneValidation | undefined;
  /** A long file that is read to its end meanwhile. */
  reading: DataReading | null;
  isPending: boolean;
  /** Why the last asking had no answer. */
  error: Error | null;
  /** What stands against it is said in a toast. */
  check: (choice: FineTuneChoice, onAccepted: () => void) => void;
  /** What was said stays in sight until it is answered again. */
  checkAgain: () => void;
  /** Nobody needs to know any more what all of the file comes to. */
  stopCounting: () => void;
  /** What the server said is of no use any more. */
  forget: () => void;
};

/**
 * Asks the server about a choice; of a long file once more, when all of it has been read, and where its price has changed.
 * @param inPlace what goes wrong is said on the screen, not in a toast.
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
  function forget() {
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
      forget();
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
    forget,
  };
}
