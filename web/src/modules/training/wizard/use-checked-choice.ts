import type { DataReading, FineTuneValidation } from '@bakehouse/contract/training';
import { useEffect, useEffectEvent } from 'react';
import { stopReading, useReading } from '../readings/api.ts';
import { type FineTuneChoice, useValidateFineTune } from './wizard-calls.ts';

type CheckedChoice = {
  /** What the server said of the current choice. */
  validation: FineTuneValidation | undefined;
  /** A long file that is read to its end meanwhile. */
  reading: DataReading | null;
  isPending: boolean;
  check: (choice: FineTuneChoice, onAnswer: (validation: FineTuneValidation) => void) => void;
  /** Nobody needs to know any more what all of the file comes to. */
  stopCounting: () => void;
  /** What the server said is of no use any more. */
  forget: () => void;
};

/** Asks the server about a choice; of a long file once more, when all of it has been read. */
export function useCheckedChoice(choice: FineTuneChoice | null): CheckedChoice {
  const first = useValidateFineTune();
  const recount = useValidateFineTune();
  const validation = recount.data ?? first.data;
  const reading = useReading(validation?.reading ?? null);
  const isRead = reading?.state === 'done' && validation?.reading != null;
  const countAgain = useEffectEvent(() => {
    if (choice && !recount.isPending) recount.mutate(choice);
  });
  useEffect(() => {
    if (isRead) countAgain();
  }, [isRead]);

  function stopCounting() {
    if (reading?.state === 'reading') void stopReading(reading.reading_id).catch(() => undefined);
  }
  function forget() {
    stopCounting();
    first.reset();
    recount.reset();
  }
  return {
    validation,
    reading,
    isPending: first.isPending,
    check: (wanted, onAnswer) => {
      forget();
      first.mutate(wanted, { onSuccess: onAnswer });
    },
    stopCounting,
    forget,
  };
}
