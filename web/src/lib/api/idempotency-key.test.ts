import { expect, test } from 'vitest';
import { ApiError } from './api-error.ts';
import { idempotencyKeys, isRefused } from './idempotency-key.ts';

test('an input keeps its key until it succeeded, whatever else was sent in between', () => {
  let count = 0;
  const keys = idempotencyKeys(() => `key-${++count}`);
  expect(keys.keyFor({ amount: '5' })).toBe('key-1');
  expect(keys.keyFor({ amount: '5' })).toBe('key-1');
  expect(keys.keyFor({ amount: '6' })).toBe('key-2');
  expect(keys.isRepeat({ amount: '5' })).toBe(true);
  expect(keys.isRepeat({ amount: '6' })).toBe(true);
  keys.renew({ amount: '6' });
  expect(keys.isRepeat({ amount: '6' })).toBe(false);
  expect(keys.keyFor({ amount: '5' })).toBe('key-1');
  expect(keys.keyFor({ amount: '6' })).toBe('key-3');
});

test.each([
  [402, true],
  [409, true],
  // Nobody has looked whether one with this key was carried out.
  [0, false],
  [401, false],
  [403, false],
  [429, false],
  // Nobody knows.
  [408, false],
  [502, false],
])('an answer with status %d says that nothing was carried out: %s', (status, refused) =>
  expect(isRefused(new ApiError('No', { status, code: 'no_key' }))).toBe(refused),
);
