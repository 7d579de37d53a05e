import type { Judgement } from '@bakehouse/contract/judgements';
import { expect, test } from 'vitest';
import { headline, orderText, rateText } from './judgement-sentences.ts';

const judged = (wins: number, low: number, high: number): Judgement =>
  ({ wins, ties: 1, losses: 1, win_rate: 0.7, interval: { low, high } }) as Judgement;

test('no more is said than the interval allows', () => {
  expect(headline(judged(3, 0.29, 0.93))).toBe('These rows show no difference');
  expect(headline(judged(3, 0.5, 0.93))).toBe('These rows show no difference');
  expect(headline(judged(3, 0.51, 0.93))).toBe('This model answers better than the base model');
  expect(headline(judged(3, 0.1, 0.49))).toBe('This model answers worse than the base model');
});

test('without a verdict it is said whether one may come', () => {
  const none = (requestsDone: number): Judgement =>
    ({
      ...{ status: 'completed', win_rate: null, interval: null },
      ...{ requests: 10, requests_done: requestsDone, requests_failed: 0 },
    }) as Judgement;
  expect(headline(none(8))).toBe('No verdict yet');
  expect(rateText(none(8))).toBe('');
  expect(headline(none(10))).toBe('No verdict');
  expect(rateText(none(10))).toMatch(/A, B or TIE .+ Choose a larger model\.$/);
});

test('few rows say little', () => {
  expect(rateText(judged(3, 0.29, 0.93))).toBe(
    'Win rate 70%, 95% interval 29% to 93%. A tie is half a win. 5 rows say little.',
  );
  expect(rateText(judged(28, 0.29, 0.93))).toBe(
    'Win rate 70%, 95% interval 29% to 93%. A tie is half a win.',
  );
});

test('what cannot be read is no verdict', () => {
  const answer = { tuned_first: true, text: 'Bread', verdict: null, error: null };
  expect(orderText(answer)).toBe('This model first: no verdict');
  expect(orderText({ ...answer, text: null })).toBe('This model first: not answered');
  expect(orderText({ ...answer, tuned_first: false, verdict: 'tuned' })).toBe(
    'Base model first: for this model',
  );
});
