import { expect, test } from 'vitest';
import { type AxisDraft, axisProblems, sweepProblem, toAxes } from './sweep-draft.ts';

const sft = { objective: 'sft', adaptation: 'lora' } as const;
const rates = (values: string): AxisDraft => ({ parameter: 'learning_rate', values });
const ranks = (values: string): AxisDraft => ({ parameter: 'lora_r', values });

test('values are read however they are set apart', () => {
  expect(toAxes([rates(' 0.001,2e-4;  0.01 ')])).toEqual([
    { parameter: 'learning_rate', values: [0.001, 0.0002, 0.01] },
  ]);
});

test.each([
  ['0.001, 0.0002', undefined],
  ['', 'Enter at least two values'],
  ['0.001', 'Enter at least two values'],
  ['0.001, 1e-3', 'Enter each value once'],
  ['0.001, high', 'high is not a number'],
  ['0, 0.1', 'Learning rate must be greater than 0'],
  ['0.1, 2', 'Learning rate must be at most 1'],
  ['.1 .2 .3 .4 .5 .6 .7 .8 .9', 'Enter at most 8 values'],
])('of a learning rate %j it is said: %s', (values, problem) => {
  expect(axisProblems([rates(values)], sft)).toEqual([problem ? { values: problem } : {}]);
});

test('whole numbers stay whole, as in the field itself', () => {
  expect(sweepProblem([ranks('8, 8.5')], sft)).toBe('LoRA rank must be a whole number');
});

test('more than sixteen runs are said at both parameters, once their values are right', () => {
  const many = [rates('0.1, 0.2, 0.3'), ranks('1, 2, 3, 4, 5, 6')];
  const problem = { values: 'These values make 18 runs: a sweep has at most 16' };
  expect(axisProblems(many, sft)).toEqual([problem, problem]);
  expect(axisProblems([rates('0.1, 0.2'), ranks('1, 2, 3, 4, 5, 6, 7, 8')], sft)).toEqual([{}, {}]);
});

test('a parameter stands once, and belongs to the objective', () => {
  expect(axisProblems([ranks('4, 8'), ranks('4, 8')], sft)).toEqual([
    {},
    { parameter: 'Choose two different parameters' },
  ]);
  const beta: AxisDraft = { parameter: 'beta', values: '0.1, 0.3' };
  expect(sweepProblem([beta], sft)).toBe('SFT has no Beta: choose another parameter');
  expect(sweepProblem([beta], { ...sft, objective: 'dpo' })).toBeUndefined();
  expect(sweepProblem([], sft)).toBeUndefined();
  const full = { ...sft, adaptation: 'full' } as const;
  expect(sweepProblem([ranks('4, 8')], full)).toBe(
    'Full fine-tuning has no LoRA rank: choose another parameter',
  );
  expect(sweepProblem([rates('0.1, 0.2')], full)).toBeUndefined();
});
