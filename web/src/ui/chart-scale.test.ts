import { expect, test } from 'vitest';
import { formatFigure, rangeAround, smooth, stack, visibleIndexes } from './chart-scale.ts';

test('smoothing preserves constants, lags behind steps and preserves gaps', () => {
  expect(smooth([2, 2, 2], 0.9)).toEqual([2, expect.closeTo(2), expect.closeTo(2)]);
  expect(smooth([0, 1], 0.5)).toEqual([0, expect.closeTo(2 / 3)]);
  expect(smooth([1, null, 1], 0.5)).toEqual([1, null, 1]);
  expect(smooth([3, 1], 0)).toEqual([3, 1]);
});

test('stacking sums upwards and counts gaps as zero', () => {
  expect(
    stack([
      [1, 2],
      [3, null],
      [0, 4],
    ]),
  ).toEqual([
    [1, 2],
    [4, 2],
    [4, 6],
  ]);
});

test('figures are short', () => {
  expect(
    [0, 0.00012, 0.51234, -0.5, 1234.5, 12_345, 2_500_000].map((figure) => formatFigure(figure)),
  ).toEqual(['0', '1.2e−4', '0.512', '−0.5', '1235', '12.3k', '2.5M']);
});

test.each([
  [[0, 0.5, 1, 1.5], 0.5, ['0.0', '0.5', '1.0', '1.5']],
  [[0, 5, 10], 5, ['0', '5', '10']],
  [[0, 0.0005, 0.001], 0.0005, ['0.0000', '0.0005', '0.0010']],
  [[0, 0.0001, 0.0002], 0.0001, ['0', '1.0e−4', '2.0e−4']],
  [[0, 7500, 15_000], 7500, ['0.0', '7.5k', '15.0k']],
  [[-2e6, 0, 2e6], 2e6, ['−2M', '0', '2M']],
])('axis labels %j share one format', (labels, step, texts) => {
  const largest = Math.max(...labels.map(Math.abs));
  expect(labels.map((label) => formatFigure(label, { step, largest }))).toEqual(texts);
});

test('a single value gets an axis scaled to its magnitude', () => {
  expect(rangeAround(0.0002, false)).toEqual([0, 0.0004]);
  expect(rangeAround(-3, false)).toEqual([-6, 0]);
  expect(rangeAround(0, false)).toEqual([0, 1]);
  expect(rangeAround(2, true)).toEqual([0.2, 20]);
});

test('downsampling keeps every extreme and the same number of points per part of the axis', () => {
  // Denser at the end, like a run that starts logging more often.
  const x = Array.from({ length: 60_000 }, (_, place) => (place < 20_000 ? place * 3 : 40_000 + place));
  const loss = x.map((_, place) => (place === 33_333 ? 99 : (place % 7) + 1));
  const heldOut = x.map((_, place) => (place === 44_444 ? -5 : place % 100 === 0 ? 2 : null));
  const places = visibleIndexes(x, [loss, heldOut]) ?? [];
  expect(places.length).toBeLessThanOrEqual(4_002);
  expect(places).toEqual(expect.arrayContaining([0, 33_333, 44_444, 59_999]));
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  for (let from = 0; from < 100_000; from += 10_000)
    expect(
      places.filter((place) => Math.floor((x[place] ?? 0) / 10_000) * 10_000 === from).length,
    ).toBeGreaterThan(200);
  expect(visibleIndexes(x.slice(0, 5_000), [loss.slice(0, 5_000)])).toBeNull();
});
