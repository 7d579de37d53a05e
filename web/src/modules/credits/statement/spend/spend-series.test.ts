import { expect, test } from 'vitest';
import { spendSeries } from './spend-series.ts';

const today = '2026-11-20';

test('a fortnight without gaps, one series per use that occurs', () => {
  const { x, series } = spendSeries(
    [
      { date: '2026-11-19', use: 'fine_tuning', amount: '25' },
      { date: '2026-11-20', use: 'llm_inference', amount: '0.5' },
      { date: '2026-11-20', use: 'fine_tuning', amount: '-1' },
    ],
    'USD',
    { today },
  );
  expect(x).toHaveLength(14);
  expect(new Date((x.at(-1) ?? 0) * 1000).toISOString()).toBe('2026-11-20T00:00:00.000Z');
  expect(series.map(({ label, values }) => [label, values.slice(-2)])).toEqual([
    ['Fine-tuning', [1, 0]],
    ['Chat and completions', [0, 0.02]],
  ]);
});

test('the chosen days, and older ones where there is spending', () => {
  expect(spendSeries([], 'BGL', { today, from: '2026-11-18', to: '2026-11-19' }).x).toHaveLength(2);
  expect(
    spendSeries([{ date: '2026-10-21', use: 'deployment', amount: '1' }], 'BGL', { today }).x,
  ).toHaveLength(31);
});
