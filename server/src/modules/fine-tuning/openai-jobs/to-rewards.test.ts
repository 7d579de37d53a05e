import type { AnswerFormat, Grader } from '@bakehouse/contract/graders';
import { expect, test } from 'vitest';
import { toRewards } from './to-rewards.ts';

const check = (values: object = {}) => ({
  ...{ type: 'string_check', name: 'correct', operation: 'eq' },
  ...{ input: '{{sample.output_text}}', reference: '{{item.answer}}', ...values },
});
const multi = (
  calculate_output: string,
  graders: object = { a: check(), b: check({ reference: 'rye' }) },
) => ({
  ...{ type: 'multi', name: 'both', graders, calculate_output },
});
const rewardsOf = (grader: object, format: AnswerFormat | null = null) => toRewards(grader as Grader, format);
const weightsOf = (formula: string) => rewardsOf(multi(formula)).rewards.map(({ weight }) => weight);

test('a string check becomes a reward that compares answers with a field of the row, or with a text', () => {
  expect(rewardsOf(check({ input: '{{ sample.output_text }}', reference: '{{ item.answer }}' }))).toEqual({
    rewards: [{ type: 'string_check', operation: 'eq', weight: 1 }],
    referenceField: 'answer',
  });
  expect(rewardsOf(check({ operation: 'ilike', reference: 'thank you' }))).toEqual({
    rewards: [{ type: 'string_check', operation: 'ilike', reference: 'thank you', weight: 1 }],
    referenceField: null,
  });
});

test('an answer format adds a reward', () => {
  const schema = { type: 'object' };
  const format: AnswerFormat = { type: 'json_schema', json_schema: { name: 'bread', schema } };
  expect(rewardsOf(check(), format).rewards[1]).toEqual({
    type: 'json_schema',
    json_schema: schema,
    weight: 1,
  });
  const eight = Object.fromEntries('abcdefgh'.split('').map((name) => [name, check()]));
  expect(() => rewardsOf(multi('a', eight), format)).toThrow('at most 7 entries if response_format is set');
});

test.each([
  ['a + b', [1, 1]],
  ['0.8 * a + .2*b', [0.8, 0.2]],
  ['(a + b) / 2', [0.5, 0.5]],
  ['-(a - 3 * b) * 2 + b', [-2, 7]],
  ['2 * (3 - 1) * a', [4, 0]],
  ['a + 1 - b - 1', [1, -1]],
])('parses the weights of %s', (formula, weights) => {
  expect(weightsOf(formula)).toEqual(weights);
});

test.each([
  ['a * b', 'multiplies graders with each other'],
  ['1 / a', 'divides by a grader'],
  ['a / 0', 'divides by 0'],
  ['a + 1', 'adds 1, which no answer can score'],
  ['sqrt(a)', "contains 'sqrt', which is not the name of a grader"],
  ['a b', "cannot be read at 'b'"],
  ['a ^ 2', "cannot be read from ' ^ 2' on"],
  ['(a + b', 'does not close its brackets'],
  ['a +', 'ends too soon'],
  ['', 'ends too soon'],
  ['101 * a', 'it must be from -100 to 100'],
])('refuses a formula that is not a weighted sum: %s', (formula, message) => {
  expect(() => weightsOf(formula)).toThrow(
    expect.objectContaining({
      param: 'method.reinforcement.grader.calculate_output',
      publicMessage: expect.stringContaining(message),
    }),
  );
});

test.each([
  [check({ input: '{{sample.output_json.a}}' }), 'grader.input', "must be '{{sample.output_text}}'"],
  [check({ input: '{{item.answer}}' }), 'grader.input', 'must be'],
  [check({ reference: 'It is {{item.answer}}' }), 'grader.reference', 'must be one field of the row'],
  [check({ reference: '{{item.answer.value}}' }), 'grader.reference', 'must be one field of the row'],
  [
    multi('a + b', { a: check(), b: check({ reference: '{{item.other}}' }) }),
    'grader.graders.b.reference',
    'answer and other',
  ],
])('refuses by field what a reward cannot express', (grader, field, message) => {
  expect(() => rewardsOf(grader)).toThrow(
    expect.objectContaining({
      param: `method.reinforcement.${field}`,
      publicMessage: expect.stringContaining(message),
    }),
  );
});
