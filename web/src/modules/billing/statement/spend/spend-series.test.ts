import { expect, test } from 'vitest';
import { spendSeries } from './spend-series.ts';

test('has all days without gaps, and one series per occurring use', () => {
  const { x, series } = spendSeries(
    [
      { date: '2026-11-19', use: 'fine_tuning', amount: '25' },
      { date: '2026-11-20', use: 'llm_inference', amount: '0.5' },
      { date: '2026-11-20', use: 'fine_tuning', amount: '-1' },
    ],
    'USD',
    { from: '2026-11-07', to: '2026-11-20' },
  );
  expect(x).toHaveLength(14);
  expect(new Date((x.at(-1) ?? 0) * 1000).toISOString()).toBe('2026-11-20T00:00:00.000Z');
  expect(series.map(({ label, color, values }) => [label, color, values.slice(-2)])).toEqual([
    ['Fine-tuning', 1, [1, 0]],
    // Deployments without data here keep their color.
    ['Chat and completions', 3, [0, 0.02]],
  ]);
});
