import { mean } from '../measured.ts';

/** Maximum difference of the losses: on average, and in a single step. */
const MEAN_APART = 0.02;
const STEP_APART = 0.1;

/**
 * Throws unless both sides have learnt the same. They need the same number of steps, and losses that fall and
 * differ only by rounding. A side that skips tokens, steps or gradients has other losses, so comparing its
 * speed would be wrong.
 */
export function requireSameLosses(ours: number[], theirs: number[]): void {
  if (ours.length !== theirs.length || ours.length === 0)
    throw new Error(`One side has trained ${ours.length} steps, the other ${theirs.length}`);
  const apart = ours.map((loss, step) => Math.abs(loss / (theirs[step] ?? Number.NaN) - 1));
  const at = apart.findIndex((one) => !(one <= STEP_APART));
  if (at >= 0)
    throw new Error(`Losses of step ${at + 1}: ${ours[at]} on one side, ${theirs[at]} on the other`);
  if (mean(apart) > MEAN_APART) throw new Error(`The losses are ${mean(apart)} apart on average`);
  const part = Math.ceil(ours.length / 4);
  if (!(mean(ours.slice(-part)) < mean(ours.slice(0, part)))) throw new Error('Neither side has learnt');
}
