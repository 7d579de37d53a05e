import { expect, test } from 'vitest';
import { scrubText } from './to-event.ts';

test.each([
  [`Unexpected token 'I', "I love Bob"... is not valid JSON`, 'Unexpected token […]... is not valid JSON'],
  [`invalid input syntax for type integer: "Alice"`, 'invalid input syntax for type integer: […]'],
  [`cannot read 'it's Bob's secret' here`, 'cannot read […] here'],
  ['the answer began with “Dear Bob', 'the answer began with […]'],
  [`it can't be read and mustn't be`, `it can't be read and mustn't be`],
  ['password: hunter2 and more', 'password=[…]'],
  ['connect to postgresql://ada:hunter2@db.example:5432/x failed', 'connect to [url] failed'],
  ['mail to ada@example.com failed', 'mail to [address] failed'],
  ['key bk_abc is refused', 'key [secret] is refused'],
  ['sent Bearer abc.def', 'sent Bearer […]'],
  ['digest 0123456789abcdef0123456789abcdef differs', 'digest [secret] differs'],
  [
    'no run 0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000 is there',
    'no run 0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000 is there',
  ],
  ['the hold is larger than the balance', 'the hold is larger than the balance'],
])('%s becomes %s', (text, scrubbed) => {
  expect(scrubText(text)).toBe(scrubbed);
});

test('truncates long text', () => {
  expect(scrubText('so '.repeat(1_000))).toHaveLength(301);
});
