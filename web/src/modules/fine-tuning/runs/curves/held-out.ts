import type { Point } from './curves.ts';

/** A rise of the held-out loss below this factor is noise. */
const RISE = 1.05;

type Measured = { step: number; loss: number };

/** Returns the lowest held-out loss during training; null before the first evaluation. */
export function bestHeldOut(points: readonly Point[]): Measured | null {
  return measured(points).reduce<Measured | null>(
    (best, one) => (best === null || one.loss < best.loss ? one : best),
    null,
  );
}

/** The loss of fewer held-out rows is unreliable; the runtime doesn't select the best step by it either. */
const ROWS_MIN = 5;

/**
 * Returns when overfitting began: the held-out loss rises while the training loss falls. Null if it doesn't,
 * or without enough held-out rows.
 */
export function overfittingSince(points: readonly Point[]): Measured | null {
  const rows = points.find(({ values }) => values.held_out_rows !== undefined)?.values.held_out_rows ?? 0;
  if (rows < ROWS_MIN) return null;
  const best = bestHeldOut(points);
  const last = measured(points).at(-1);
  if (!best || !last || last.loss < best.loss * RISE) return null;
  const before = meanLoss(points.filter(({ step }) => step <= best.step));
  const after = meanLoss(points.filter(({ step }) => step > best.step));
  return before !== null && after !== null && after < before ? best : null;
}

/** Returns the evaluations without step 0, which measures the base model. */
function measured(points: readonly Point[]): Measured[] {
  return points.flatMap(({ step, values: { eval_loss: loss } }) =>
    step > 0 && loss !== undefined ? [{ step, loss }] : [],
  );
}

function meanLoss(points: readonly Point[]): number | null {
  const losses = points.flatMap(({ values: { loss } }) => (loss === undefined ? [] : [loss]));
  return losses.length === 0 ? null : losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
}
