import { expect, it } from 'vitest';
import type { Point } from './curves.ts';
import { bestHeldOut, overfittingSince } from './held-out.ts';

/** Steps with training loss and, if measured, held-out loss over five rows. */
const curve = (...steps: [loss: number | undefined, heldOut?: number][]): Point[] =>
  steps.map(([loss, eval_loss], step) => ({
    step,
    values: {
      ...(loss !== undefined && { loss }),
      ...(eval_loss !== undefined && { eval_loss }),
      ...(step === 0 && { held_out_rows: 5 }),
    },
  }));
const rising = curve([undefined, 3], [2, 1.5], [1], [0.5, 1.8]);

it('finds the step with the lowest held-out loss, excluding the base model', () => {
  expect(bestHeldOut([])).toBeNull();
  expect(bestHeldOut(curve([undefined, 0.1]))).toBeNull();
  expect(bestHeldOut(curve([undefined, 3], [2, 2], [1, 1.5], [0.5, 1.8]))).toEqual({ step: 2, loss: 1.5 });
});

it.each([
  ['held-out rises while training falls', rising, 1],
  ['it rises within noise', curve([undefined, 3], [2, 1.5], [1], [0.5, 1.52]), undefined],
  ['both fall', curve([undefined, 3], [2, 2], [1], [0.5, 1.5]), undefined],
  ['both rise: the run diverges', curve([undefined, 3], [1, 1.5], [2], [3, 1.8]), undefined],
  ['nothing was measured', curve([2], [1]), undefined],
])('reports when overfitting began: %s', (_case, points, step) => {
  expect(overfittingSince(points)?.step).toBe(step);
});

it.each([4, undefined])('reports nothing for %s held-out rows', (rows) => {
  const points = rising.map(({ step, values: { held_out_rows: _, ...losses } }): Point => {
    const values = step === 0 && rows !== undefined ? { ...losses, held_out_rows: rows } : losses;
    return { step, values };
  });
  expect(overfittingSince(points)).toBeNull();
});
