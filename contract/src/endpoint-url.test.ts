import { expect, test } from 'vitest';
import { endpointUrl } from './endpoint-url.ts';

test('fills parameters and encodes each segment', () => {
  expect(endpointUrl('/api/v1/asset/:id/files/*', { id: 'a/b', '*': 'data/my file.csv' })).toBe(
    '/api/v1/asset/a%2Fb/files/data/my%20file.csv',
  );
});

test('omits null query values but not false and zero', () => {
  expect(endpointUrl('/x', {}, { a: undefined, b: null, c: false, d: 0, e: 'ä' })).toBe(
    '/x?c=false&d=0&e=%C3%A4',
  );
});

test('refuses a missing parameter', () => {
  expect(() => endpointUrl('/api/v1/runs/:runId', {})).toThrow('Missing :runId');
  expect(() => endpointUrl('/api/v1/runs/:runId', { runId: '' })).toThrow('Missing :runId');
});
