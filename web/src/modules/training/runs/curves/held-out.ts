import type { Point } from './curves.ts';

/** How much the held-out loss may rise over its best before it is worth a word: less than that is noise. */
const RISE = 1.05;

type Measured = { step: number; loss: number };

/** Where the held-out loss was lowest while the run learned; null before anything was measured. */
export function bestHeldOut(points: readonly Point[]): Measured | null {
  return measured(points).reduce<Measured | null>(
    (best, one) => (best === null || one.loss < best.loss ? one : best),
    null,
  );
}

/** A loss of fewer rows says too little to act on; of fewer the runtime chooses no step either. */
const ROWS_MIN = 5;

/**
 * Since when the model learns its data by heart: the held-out loss rises while the training loss falls. Null: it does not, or
 * the run has not said of enough held-out rows.
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

/** What was measured after the first step: before it the base model was. */
function measured(points: readonly Point[]): Measured[] {
  return points.flatMap(({ step, values: { eval_loss: loss } }) =>
    step > 0 && loss !== undefined ? [{ step, loss }] : [],
  );
}

function meanLoss(points: readonly Point[]): number | null {
  const losses = points.flatMap(({ values: { loss } }) => (loss === undefined ? [] : [loss]));
  return losses.length === 0 ? null : losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
}
