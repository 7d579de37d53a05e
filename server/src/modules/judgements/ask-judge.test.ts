import { DEFAULT_JUDGE_PROMPT } from '@bakehouse/contract/judgements';
import { expect, test } from 'vitest';
import { askJudge } from './ask-judge.ts';

const pair = {
  ...{ question: 'What does the loaf cost?', earlier_turns: 0, expected: '39 euros.' },
  ...{ base: 'It depends.', tuned: 'See {{answer_a}} and $& for {{reference}}.' },
};
const said = (prompt: string, tunedFirst: boolean, more: Partial<typeof pair> = {}) =>
  askJudge({ model: 'judge', prompt }, { ...pair, ...more }, tunedFirst).messages[0]?.content;

test('the judge reads both answers in the order that is asked for, and an answer has no places', () => {
  const prompt = '{{question}}|{{reference}}|{{answer_a}}|{{answer_b}}|{{else}}';
  expect(said(prompt, false)).toBe(
    'What does the loaf cost?|39 euros.|It depends.|See {{answer_a}} and $& for {{reference}}.|{{else}}',
  );
  expect(said(prompt, true)).toBe(
    'What does the loaf cost?|39 euros.|See {{answer_a}} and $& for {{reference}}.|It depends.|{{else}}',
  );
});

test('what the judge cannot see is said', () => {
  expect(said('{{reference}}', true, { expected: '' })).toBe('None.');
  expect(said('{{question}}', true, { earlier_turns: 2 })).toBe(
    '(Earlier turns of the conversation are left out.)\nWhat does the loaf cost?',
  );
});

test('its own prompt has each place once, and temperature is 0', () => {
  const text = said(DEFAULT_JUDGE_PROMPT, true, { tuned: '129 euros.' });
  for (const part of ['What does the loaf cost?', '39 euros.', 'It depends.', '129 euros.'])
    expect(text?.split(`\n${part}\n`)).toHaveLength(2);
  expect(askJudge({ model: 'judge', prompt: '' }, pair, true)).toMatchObject({
    temperature: 0,
    model: 'judge',
  });
});
