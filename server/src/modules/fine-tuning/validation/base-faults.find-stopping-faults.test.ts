import { expect, test } from 'vitest';
import { findStoppingFaults, findStoppingWarnings } from './base-faults.ts';

test('refuses early stopping with too few held-out rows', () => {
  const faultsOf = (early_stopping_patience: number, heldOut: number) =>
    findStoppingFaults({ early_stopping_patience }, heldOut);
  expect(faultsOf(0, 0)).toEqual([]);
  expect(faultsOf(1, 5)).toEqual([]);
  expect(faultsOf(1, 4)).toEqual([
    {
      about: 'early_stopping_patience',
      message:
        'Early stopping needs at least 5 held-out examples, and there are 4: hold out more rows, or set early stopping patience to 0',
    },
  ]);
  expect(faultsOf(1, 1)[0]?.message).toContain('there is 1:');
});

test('warns about a patience that cannot take effect', () => {
  const warned = (early_stopping_patience: number, evaluations: number) =>
    findStoppingWarnings({ early_stopping_patience }, evaluations);
  expect([...warned(0, 1), ...warned(2, 3)]).toEqual([]);
  expect(warned(3, 3)).toEqual([
    'An early stopping patience of 3 never ends this run, in which there are 3 evaluations: evaluate more often, or be less patient.',
  ]);
  expect(warned(1, 1)[0]).toContain('there is 1 evaluation:');
});
