import { expect, test } from 'vitest';
import { startingReason } from './progress.ts';

test.each([
  ['pulling', 'The model is starting: fetching its files'],
  ['pulling inputs', 'The model is starting: fetching its files'],
  ['loading model', 'The model is starting: loading the model'],
  ['starting', 'The model is starting'],
])('while its model server is %s, a generation waits because: %s', (phase, reason) => {
  expect(startingReason(phase)).toBe(reason);
});
