import { expect, test } from 'vitest';
import { toApiError } from './api-error.ts';

const read = (body: string) => toApiError(400, body, 'r1', 'sign in');

test('reads our own shape, and the sign-in library’s', () => {
  expect(read('{"error":{"code":"not_found","message":"No run has this id","param":"runId"}}')).toMatchObject(
    {
      code: 'not_found',
      message: 'No run has this id',
      param: 'runId',
      requestId: 'r1',
    },
  );
  expect(read('{"code":"INVALID_PASSWORD","message":"Invalid password"}')).toMatchObject({
    code: 'INVALID_PASSWORD',
    message: 'Invalid password',
  });
});

test('knows no code where the answer has none', () => {
  expect(read('<html>')).toMatchObject({ code: 'unknown', message: 'Failed to sign in' });
});
