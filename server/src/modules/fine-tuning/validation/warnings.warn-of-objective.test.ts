import { expect, test } from 'vitest';
import { findObjectiveWarnings } from './warnings.ts';

const weights = { desirable_weight: 1, undesirable_weight: 1 };
const kto = { objective: 'kto', adaptation: 'lora', learning_rate: 1e-4, ...weights } as const;

test.each([
  [kto, { good: 30, bad: 30 }],
  [kto, { good: 40, bad: 30 }],
  [
    { ...kto, undesirable_weight: 3 },
    { good: 90, bad: 30 },
  ],
  [kto, { good: 90, bad: 0 }],
  [{ ...kto, objective: 'sft', learning_rate: 1e-3 } as const, null],
])('accepts %j with %j', (fields, ratings) => {
  expect(findObjectiveWarnings(fields, ratings)).toEqual([]);
});

test('recommends a weight if there are many more answers of one kind', () => {
  expect(findObjectiveWarnings(kto, { good: 90, bad: 10 })).toEqual([
    '90 good and 10 bad answers are trained on: with a weight of 9 for bad ones both kinds count alike.',
  ]);
  expect(findObjectiveWarnings({ ...kto, undesirable_weight: 2 }, { good: 30, bad: 70 })).toEqual([
    '30 good and 70 bad answers are trained on: with a weight of 4.7 for good ones both kinds count alike.',
  ]);
  expect(findObjectiveWarnings(kto, { good: 5, bad: 4000 })[0]).toContain('a weight of 100 for good ones');
});

test('judges the learning rate by the objective', () => {
  expect(findObjectiveWarnings({ ...kto, learning_rate: 0.001 }, null)).toEqual([
    'A learning rate of 0.001 is far above what KTO usually tolerates (5e-6 to 5e-4): the model may forget how to answer.',
  ]);
  expect(findObjectiveWarnings({ ...kto, objective: 'dpo', learning_rate: 3e-4 }, null)[0]).toContain('DPO');
  expect(findObjectiveWarnings({ ...kto, objective: 'sft', learning_rate: 3e-3 }, null)[0]).toContain('LoRA');
  expect(findObjectiveWarnings({ ...kto, learning_rate: 1e-7 }, null)[0]).toContain('hardly change');
});

test.each([
  ['sft', 1e-4, 1e-3],
  ['dpo', 5e-5, 2e-4],
  ['kto', 5e-5, 2e-4],
  ['grpo', 5e-5, 2e-4],
] as const)('full fine-tuning with %s accepts %d and warns about %d', (objective, borne, high) => {
  const full = { ...kto, objective, adaptation: 'full' } as const;
  expect(findObjectiveWarnings({ ...full, learning_rate: borne }, null)).toEqual([]);
  expect(findObjectiveWarnings({ ...full, learning_rate: high }, null)[0]).toContain(
    'a full fine-tune usually bears',
  );
});
