import { expect, test } from 'vitest';
import { idempotencyKeys } from './idempotency-key.ts';

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
