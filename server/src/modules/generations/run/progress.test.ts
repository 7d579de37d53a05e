import { expect, test } from 'vitest';
import { begun, progressAfter, startingReason } from './progress.ts';

test.each([
  ['pulling', 'The model is starting: fetching its files'],
  ['pulling inputs', 'The model is starting: fetching its files'],
  ['loading model', 'The model is starting: loading the model'],
  ['starting', 'The model is starting'],
])('phase %s of the model server shows: %s', (phase, reason) => {
  expect(startingReason(phase)).toBe(reason);
});

test('a model without experts has no expert weights, neither queued nor running', () => {
  const queued = progressAfter(begun, { type: 'queued', position: 1 });
  expect(queued.details).toEqual({});
  const event = { type: 'step', step: 1, steps: 10, preview: null, expert_weights: null } as const;
  expect(progressAfter(queued, event).details).toEqual({});
});
