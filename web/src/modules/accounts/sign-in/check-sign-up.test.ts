import { expect, test } from 'vitest';
import { checkSignUp } from './check-sign-up.ts';

test('reports each invalid field once', () => {
  expect(checkSignUp({ username: 'A B', email: 'ada', password: 'short' })).toEqual({
    errors: {
      username: expect.stringContaining('Username must have 3 to 30 characters'),
      email: 'Enter a valid email address',
      password: 'Password must have at least 8 characters',
    },
  });
  expect(checkSignUp({})).toMatchObject({ errors: { username: expect.any(String) } });
});

test('returns the values normalized like on the server', () => {
  expect(checkSignUp({ username: ' Ada ', email: 'ada@example.com', password: 'a long password' })).toEqual({
    values: { username: 'ada', email: 'ada@example.com', password: 'a long password' },
  });
});
