import { expect, it } from 'vitest';
import { curvesOf, overlay, type Point } from './curves.ts';

const points: Point[] = [
  { step: 0, values: { eval_loss: 3 } },
  { step: 1, values: { loss: 2.5, learning_rate: 0.001 } },
  { step: 2, values: { loss: 2, eval_loss: 1.5 } },
];

it('takes only the steps that have a value', () => {
  expect(curvesOf(points, [{ name: 'loss', label: 'Loss' }])).toEqual({
    x: [1, 2],
    series: [{ label: 'Loss', values: [2.5, 2] }],
  });
});

it('leaves gaps where one of the lines has no value, and leaves out lines without any', () => {
  const both = curvesOf(points, [
    { name: 'loss', label: 'Loss' },
    { name: 'eval_loss', label: 'Held-out' },
    { name: 'grad_norm', label: 'Gradient' },
  ]);
  expect(both.x).toEqual([0, 1, 2]);
  expect(both.series).toEqual([
    { label: 'Loss', values: [null, 2.5, 2] },
    { label: 'Held-out', values: [3, null, 1.5] },
  ]);
});

it('lays runs over each other on all their steps', () => {
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
