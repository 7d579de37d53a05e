import { expect, test } from 'vitest';
import { nameText } from './text.ts';

const name = nameText(20);

test.each(['', ' ', '\u200B', ' \u200B\u2060 ', '\uFEFF', '\u3164', '\u202E', '\u00AD'])(
  'refuses an invisible name: %j',
  (text) => {
    expect(name.safeParse(text).error?.issues[0]?.message).toBe('Name is required');
  },
);

test.each(['Rye', '面包', '🥐', 'क्‍ष', '-', '👩‍🍳'])('accepts the name %s', (text) => {
  expect(name.parse(` ${text} `)).toBe(text);
});
