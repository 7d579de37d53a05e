import { expect, it } from 'vitest';
import { requireSameLosses } from './same-losses.ts';

const losses = [3, 2.6, 2.2, 1.9, 1.6, 1.4, 1.3, 1.2];

it('accepts losses that differ by rounding', () => {
  expect(() => requireSameLosses(losses, losses)).not.toThrow();
  expect(() =>
    requireSameLosses(
      losses,
      losses.map((loss) => loss * 1.01),
    ),
  ).not.toThrow();
});

it.each([
  ['steps are skipped', losses.slice(1), 'One side has trained 7 steps, the other 8'],
  ['nothing was trained', [], 'One side has trained 0 steps, the other 8'],
  ['gradients are skipped', losses.map(() => 3), 'Losses of step 2: 3 on one side, 2.6 on the other'],
  ['tokens are skipped', losses.map((loss) => loss * 1.05), 'apart on average'],
  ['it has diverged', losses.map(() => Number.NaN), 'Losses of step 1'],
])('rejects a side where %s', (_, ours, message) => {
  expect(() => requireSameLosses(ours, losses)).toThrow(message);
});

it('rejects two sides that have learnt nothing', () => {
  expect(() => requireSameLosses([3, 3, 3, 3], [3, 3, 3, 3])).toThrow('Neither side has learnt');
});
