import { expect, test } from 'vitest';
import { toApiError } from './api-error.ts';

const read = (body: string) => toApiError(400, body, 'r1', 'sign in');

test('parses the standard error shape', () => {
  expect(read('{"error":{"code":"not_found","message":"No run has this id","param":"runId"}}')).toMatchObject(
    {
      code: 'not_found',
      message: 'No run has this id',
      param: 'runId',
      requestId: 'r1',
    },
  );
});

test('has no code if the response has none', () => {
  expect(read('<html>')).toMatchObject({ code: 'unknown', message: 'Failed to sign in' });
});
