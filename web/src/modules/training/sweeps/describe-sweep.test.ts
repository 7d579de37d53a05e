import type { Sweep, SweptRun } from '@bakehouse/contract/sweeps';
import { describe, expect, test } from 'vitest';
import {
  choiceSentence,
  measuredOf,
  progressSentence,
  ranked,
  strengths,
  sweepState,
  valuesOf,
} from './describe-sweep.ts';

type State = SweptRun['state'];
const run = (
  lora_r: number,
  state: State,
  best: number | null = null,
  reward_accuracy: number | null = null,
) =>
  ({
    ...{ run_id: `r${lora_r}`, state, parameters: { lora_r, learning_rate: 0.001 } },
    held_out: best === null ? null : { best, best_step: 2, last: best, reward_accuracy },
  }) as SweptRun;
const sweep = (runs: SweptRun[], more: Partial<Sweep> = {}): Sweep =>
  ({
    ...{ parameters: ['lora_r'], measure: 'eval_loss', held_out_rows: 8, best_run_id: null },
    runs,
    ...more,
  }) as Sweep;
const ids = (runs: SweptRun[]) => runs.map(({ run_id }) => run_id);

test('the best is first, by what the measure wants, and what was not measured is last', () => {
  const runs = [run(4, 'queued'), run(8, 'completed', 2), run(16, 'completed', 1), run(32, 'queued')];
  expect(ids(ranked(sweep(runs)))).toEqual(['r16', 'r8', 'r4', 'r32']);
  expect(ids(ranked(sweep(runs, { measure: 'eval_reward' })))).toEqual(['r8', 'r16', 'r4', 'r32']);
});

test('the best run has all of the colour, the worst none, and one alone all of it', () => {
  const runs = [run(4, 'completed', 3), run(8, 'completed', 1), run(16, 'completed', 2.5), run(32, 'queued')];
  expect([...strengths(sweep(runs)).values()]).toEqual([0, 1, 0.25, null]);
  expect([...strengths(sweep(runs, { measure: 'eval_reward' })).values()]).toEqual([1, 0, 0.75, null]);
  expect([...strengths(sweep(runs.slice(0, 1))).values()]).toEqual([1]);
});

test('runs whose losses are of different formulas are measured by their accuracy', () => {
  const rated = run(4, 'completed', 0.5, 0.75);
  expect(measuredOf({ measure: 'eval_loss' }, rated)).toBe(0.5);
  expect(measuredOf({ measure: 'eval_reward_accuracy' }, rated)).toBe(0.75);
  expect(measuredOf({ measure: 'eval_loss' }, run(4, 'queued'))).toBeNull();
});

test('values ascend as numbers', () => {
  expect(valuesOf(sweep([run(16, 'queued'), run(8, 'queued'), run(16, 'queued')]), 'lora_r')).toEqual([
    8, 16,
  ]);
});

test.each([
  [['queued', 'queued'], 'queued'],
  [['running', 'queued'], 'running'],
  [['completed', 'queued'], 'running'],
  [['starting', 'queued'], 'starting'],
  [['stopping', 'cancelled'], 'stopping'],
  [['completed', 'failed', 'cancelled'], 'completed'],
  [['failed', 'cancelled'], 'cancelled'],
  [['failed', 'failed'], 'failed'],
] as const)('a sweep of runs that are %s is %s', (states, state) => {
  expect(sweepState(sweep(states.map((one) => run(4, one))))).toBe(state);
});

test('says how many have ended, and how', () => {
  const runs = [run(4, 'completed'), run(8, 'failed'), run(16, 'running'), run(32, 'completed')];
  expect(progressSentence(sweep(runs))).toBe('2 of 4 runs completed, 1 failed.');
  expect(progressSentence(sweep(runs.slice(2, 3)))).toBe('0 of 1 run completed.');
});

describe('says which run is the best, and by what', () => {
  const done = [run(4, 'completed', 2), run(8, 'completed', 1)];
  test.each([
    [
      'while others train',
      [...done, run(16, 'running')],
      { best_run_id: 'r8' },
      'LoRA rank 8 is the best so far: it has the lowest held-out loss of all completed runs, on the same 8 held-out rows.',
    ],
    [
      'at the end',
      done,
      { best_run_id: 'r8' },
      'LoRA rank 8 is the best: it has the lowest held-out loss of all completed runs, on the same 8 held-out rows.',
    ],
    [
      'by another measure',
      done,
      { best_run_id: 'r4', measure: 'eval_reward_accuracy' },
      'LoRA rank 4 is the best: it has the highest reward accuracy of all completed runs, on the same 8 held-out rows.',
    ],
    [
      'before any has completed',
      [run(4, 'queued')],
      { held_out_rows: null },
      'The run with the lowest held-out loss is named the best. All runs are measured on the same held-out rows.',
    ],
    ['where none has', [run(4, 'failed')], {}, 'No run has completed: none is named the best.'],
    [
      'where none was measured',
      done,
      { measure: 'eval_reward_accuracy' },
      'No completed run has a reward accuracy: none is named the best.',
    ],
    ['without held-out rows', done, { held_out_rows: 0 }, 'No rows are held out: no run is named the best.'],
    [
      'of one row',
      done,
      { held_out_rows: 1 },
      'Only 1 row is held out, too few to tell runs apart: none is named the best.',
    ],
    [
      'of few rows',
      done,
      { held_out_rows: 4 },
      'Only 4 rows are held out, too few to tell runs apart: none is named the best.',
    ],
  ] as const)('%s', (_when, runs, more, sentence) => {
    expect(choiceSentence(sweep([...runs], more as Partial<Sweep>))).toBe(sentence);
  });
});
