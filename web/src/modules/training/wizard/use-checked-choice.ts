import type { DataReading, FineTuneValidation } from '@bakehouse/contract/training';
import { useEffect, useEffectEvent, useState } from 'react';
import { stopReading, useReading } from '../readings/api.ts';
import { type FineTuneChoice, useValidateFineTune } from './wizard-calls.ts';

export type CheckedChoice = {
  /** What the server said of the current choice. */
  validation: FineTuneValidation | undefined;
  /** A long file that is read to its end meanwhile. */
  reading: DataReading | null;
  isPending: boolean;
  check: (choice: FineTuneChoice, onAnswer: (validation: FineTuneValidation) => void) => void;
  /** What was said stays in sight until it is answered again. */
  checkAgain: () => void;
  /** Nobody needs to know any more what all of the file comes to. */
  stopCounting: () => void;
  /** What the server said is of no use any more. */
  forget: () => void;
};

/** Asks the server about a choice; of a long file once more, when all of it has been read, and where its price has changed. */
export function useCheckedChoice(choice: FineTuneChoice | null): CheckedChoice {
  const first = useValidateFineTune();
  const again = useValidateFineTune();
  const [validation, setValidation] = useState<FineTuneValidation>();
  const reading = useReading(validation?.reading ?? null);
  const isRead = reading?.state === 'done' && validation?.reading != null;
  const checkAgain = () => {
    if (choice && !again.isPending) again.mutate(choice, { onSuccess: setValidation });
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
    first.reset();
    again.reset();
  }
  return {
    validation,
    reading,
    isPending: first.isPending || again.isPending,
    check: (wanted, onAnswer) => {
      forget();
      first.mutate(wanted, {
        onSuccess: (answer) => {
          setValidation(answer);
          onAnswer(answer);
        },
      });
    },
    checkAgain,
    stopCounting,
    forget,
  };
}
