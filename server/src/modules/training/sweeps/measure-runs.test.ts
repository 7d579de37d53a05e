import { expect, test } from 'vitest';
import type { MetricPoint } from '../../../engine/reports/select-points-with.ts';
import { chooseBest, heldOutOf, heldOutRows, measureOf } from './measure-runs.ts';

const run = (
  run_id: string,
  best: number | null,
  more: { state?: 'completed' | 'running'; accuracy?: number } = {},
) => ({
  run_id,
  state: more.state ?? ('completed' as const),
  held_out: best === null ? null : { best, best_step: 2, last: best, reward_accuracy: more.accuracy ?? null },
});

test.each([
  ['sft', ['learning_rate', 'lora_r'], 'eval_loss'],
  ['dpo', ['learning_rate', 'epochs'], 'eval_loss'],
  ['dpo', ['learning_rate', 'beta'], 'eval_reward_accuracy'],
  ['dpo', ['sft_weight'], 'eval_reward_accuracy'],
  ['kto', ['undesirable_weight'], 'eval_reward_accuracy'],
  ['grpo', ['beta'], 'eval_reward'],
] as const)('%s over %s is compared by %s', (objective, parameters, measure) => {
  expect(measureOf(objective, parameters)).toBe(measure);
});

test('the lowest loss after the first step is the best; the base model is none of it', () => {
  const points: MetricPoint[] = [
    { step: 0, values: { eval_loss: 0.1, held_out_rows: 8 } },
    { step: 2, values: { eval_loss: 1.5, eval_reward_accuracy: 0.5 } },
    { step: 4, values: { eval_loss: 1.25, eval_reward_accuracy: 0.75 } },
    { step: 6, values: { eval_loss: 1.75, eval_reward_accuracy: 1 } },
  ];
  expect(heldOutOf(points, 'sft')).toEqual({ best: 1.25, best_step: 4, last: 1.75, reward_accuracy: 0.75 });
  expect(heldOutRows(points)).toBe(8);
  expect(heldOutOf(points.slice(0, 1), 'sft')).toBeNull();
});

test('of answers that are paid the highest reward is the best', () => {
  const points = [
    { step: 2, values: { eval_reward: 0.5, eval_loss: 0.1 } },
    { step: 4, values: { eval_reward: 0.75, eval_loss: 0.2 } },
    { step: 6, values: { eval_reward: 0.25, eval_loss: 0 } },
  ];
  expect(heldOutOf(points, 'grpo')).toEqual({ best: 0.75, best_step: 4, last: 0.25, reward_accuracy: null });
});

test('the best is of those that have made a model, by the measure; of few rows none is', () => {
  const runs = [
    run('a', 1.5),
    run('b', 1.25),
    run('c', 1, { state: 'running' }),
    run('d', 1.25),
    run('e', null),
  ];
  expect(chooseBest(runs, 'eval_loss', 5)).toBe('b');
  expect(chooseBest(runs, 'eval_reward', 5)).toBe('a');
  expect(chooseBest(runs, 'eval_loss', 4)).toBeNull();
  expect(chooseBest(runs, 'eval_loss', null)).toBeNull();
  expect(chooseBest([run('c', 1, { state: 'running' })], 'eval_loss', 5)).toBeNull();
  const rated = [run('a', 1, { accuracy: 0.5 }), run('b', 2, { accuracy: 0.75 }), run('c', 0.5)];
  expect(chooseBest(rated, 'eval_reward_accuracy', 5)).toBe('b');
});
