import { CHOOSING_EXAMPLES_MIN } from '@bakehouse/contract/fine-tune-numbers';
import type { FineTunePayload } from '@bakehouse/contract/training';

type Stopping = Pick<FineTunePayload, 'early_stopping_patience'>;

/** Returns why a run cannot use early stopping with its held-out rows. */
export function findStoppingFaults(
  { early_stopping_patience: patience }: Stopping,
  heldOut: number,
): { message: string; about: 'early_stopping_patience' }[] {
  if (patience === 0 || heldOut >= CHOOSING_EXAMPLES_MIN) return [];
  const message =
    `Early stopping needs at least ${CHOOSING_EXAMPLES_MIN} held-out examples, and there ` +
    `${heldOut === 1 ? 'is 1' : `are ${heldOut}`}: hold out more rows, or set early stopping patience to 0`;
  return [{ message, about: 'early_stopping_patience' }];
}

/**
 * Warns about a patience that can never be exceeded. The first evaluation is always the best one, so the
 * patience needs that many more.
 */
export function warnOfStopping(
  { early_stopping_patience: patience }: Stopping,
  evaluations: number,
): string[] {
  if (patience === 0 || patience < evaluations) return [];
  const count = evaluations === 1 ? 'is 1 evaluation' : `are ${evaluations} evaluations`;
  return [
    `An early stopping patience of ${patience} never ends this run, in which there ${count}: evaluate more often, or be less patient.`,
  ];
}
