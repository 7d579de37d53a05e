import { expect, test } from 'vitest';
import { checkSignUp } from './check-sign-up.ts';

test('names each wrong field once', () => {
  expect(checkSignUp({ username: 'A B', email: 'ada', password: 'short' })).toEqual({
    errors: {
      username: expect.stringContaining('Username must have 3 to 30 characters'),
      email: 'Enter a valid email address',
      password: 'Password must have at least 8 characters',
    },
  });
  expect(checkSignUp({})).toMatchObject({ errors: { username: expect.any(String) } });
});

test('gives the values as the server keeps them', () => {
  expect(checkSignUp({ username: ' Ada ', email: 'ada@example.com', password: 'a long password' })).toEqual({
    values: { username: 'ada', email: 'ada@example.com', password: 'a long password' },
  });
});
