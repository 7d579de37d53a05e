import { expect, test } from 'vitest';
import { judgeLead } from './judge-lead.ts';

const answers = (right: number, of = 20) => Array.from({ length: of }, (_, index) => index < right);

test('a model that equals its base has no lead, however many answers are right', () => {
  for (const right of [0, 7, 20]) {
    expect(judgeLead(answers(right), answers(right))).toEqual({
      ...{ wins: 0, losses: 0 },
      ...{ chance: 1, isProven: false },
    });
  }
});

test.each([
  // 1 of 2^9 is more than one in a thousand; 1 of 2^10 is less.
  { right: 9, isProven: false },
  { right: 10, isProven: true },
  { right: 20, isProven: true },
])('$right answers that the base does not know: proven $isProven', ({ right, isProven }) => {
  const lead = judgeLead(answers(right), answers(0));
  expect(lead).toMatchObject({ wins: right, losses: 0, isProven });
  expect(lead.chance).toBeCloseTo(0.5 ** right, 12);
});

test('questions that only the base answers correctly count against the tuned model', () => {
  const first = [...answers(12, 12), ...answers(0, 3)];
  const second = [...answers(0, 12), ...answers(3, 3)];
  // Probability of at least 12 heads in 15 tosses: (455 + 105 + 15 + 1) of 2^15.
  expect(judgeLead(first, second)).toMatchObject({ wins: 12, losses: 3, isProven: false });
  expect(judgeLead(first, second).chance).toBeCloseTo(576 / 2 ** 15, 12);
  expect(judgeLead(second, first)).toMatchObject({ isProven: false });
});
