import { expect, test } from 'vitest';
import { openByKey } from './open-by-key.ts';

test('counts what is open per key and in total', () => {
  const open = openByKey();
  const [first, second] = [open.enter('ada', 2), open.enter('ada', 2)];
  expect(open.enter('ada', 2)).toBeNull();
  const other = open.enter('bob', 2);
  expect(open.all()).toBe(3);
  first?.();
  expect(open.enter('ada', 2)).not.toBeNull();
  second?.();
  other?.();
  expect(open.all()).toBe(1);
});
