import { expect, it } from 'vitest';
import { curvesOf, lastOf, mergePoints, overlay, type Point, refetchPointsAfter } from './curves.ts';

const points: Point[] = [
  { step: 0, values: { eval_loss: 3 } },
  { step: 1, values: { loss: 2.5, learning_rate: 0.001 } },
  { step: 2, values: { loss: 2, eval_loss: 1.5 } },
];

it('uses only steps that have a value', () => {
  expect(curvesOf(points, [{ name: 'loss', label: 'Loss' }])).toEqual({
    x: [1, 2],
    series: [{ label: 'Loss', color: 1, values: [2.5, 2] }],
  });
});

it('leaves gaps for missing values, and omits lines without values', () => {
  const both = curvesOf(points, [
    { name: 'loss', label: 'Loss' },
    { name: 'eval_loss', label: 'Held-out' },
    { name: 'grad_norm', label: 'Gradient' },
  ]);
  expect(both.x).toEqual([0, 1, 2]);
  expect(both.series).toEqual([
    { label: 'Loss', color: 1, values: [null, 2.5, 2] },
    { label: 'Held-out', color: 2, values: [3, null, 1.5] },
  ]);
});

it('a line keeps its colour if another is still missing', () => {
  const names = [
    { name: 'loss', label: 'Loss' },
    { name: 'eval_loss', label: 'Held-out' },
  ];
  expect(curvesOf(points.slice(0, 1), names).series).toEqual([{ label: 'Held-out', color: 2, values: [3] }]);
});

it('overlays runs on the union of their steps', () => {
  const runs = [
    { label: 'a', points },
    { label: 'b', points: [{ step: 4, values: { loss: 1 } }] },
  ];
  expect(overlay(runs, 'loss')).toEqual({
    x: [1, 2, 4],
    series: [
      { label: 'a', values: [2.5, 2, null] },
      { label: 'b', values: [null, null, 1] },
    ],
  });
});

const dated = (step: number, second: number, loss: number) => ({
  step,
  at: new Date(Date.UTC(2026, 10, 20, 8, 0, second)).toISOString(),
  values: { loss },
});

it('merges new points into known ones; a repeated step is replaced', () => {
  const known = [dated(1, 10, 3), dated(2, 20, 2)];
  expect(mergePoints(known, [dated(3, 30, 1), dated(2, 25, 2.5)])).toEqual([
    dated(1, 10, 3),
    dated(2, 25, 2.5),
    dated(3, 30, 1),
  ]);
});

it('requests only new points, with a minute of overlap', () => {
  expect(refetchPointsAfter([])).toBeUndefined();
  expect(refetchPointsAfter([dated(2, 50, 2), dated(1, 59, 3)])).toBe('2026-11-20T07:59:59.000Z');
});

it('the last value is from the last step that has one', () => {
  expect(lastOf(points, 'learning_rate')).toBe(0.001);
  expect(lastOf(points, 'grad_norm')).toBeNull();
});

it('merges one point into two hundred thousand', () => {
  const many = Array.from({ length: 200_000 }, (_, step) => dated(step, 0, 1));
  expect(refetchPointsAfter(many)).toBe('2026-11-20T07:59:00.000Z');
  expect(mergePoints(many, [dated(200_000, 1, 3)])).toHaveLength(200_001);
});
