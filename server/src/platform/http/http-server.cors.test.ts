import { endpoint } from '@bakehouse/contract/endpoint';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { serve } from '../../testing/serve.ts';
import { bind } from './bind.ts';

const keyed = { method: 'POST', access: 'key', summary: 'For tests', response: z.object({}) } as const;
const chat = endpoint({ ...keyed, path: '/v1/chat' });
const asset = endpoint({ ...keyed, path: '/api/v1/asset' });
const { call } = await serve([bind(chat, async () => ({})), bind(asset, async () => ({}))]);

const origin = 'https://elsewhere.example';
const preflight = (path: string) =>
  call(path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,x-stainless-os',
    },
  });
const post = (path: string, headers: Record<string, string>) =>
  call(path, { method: 'POST', headers: { origin, ...headers } });

test('a page of another site may call /v1 with a key, and may read errors', async () => {
  expect(await preflight('/v1/chat')).toMatchObject({
    status: 204,
    headers: {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': expect.stringContaining('POST'),
      'access-control-allow-headers': 'authorization,x-stainless-os',
      'access-control-max-age': '86400',
    },
  });
  const readable = {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': expect.stringContaining('x-request-id'),
  };
  for (const [authorization, status] of [
    ['Bearer key-of-ada', 200],
    ['nobody', 401],
  ] as const)
    expect(await post('/v1/chat', { authorization })).toMatchObject({ status, headers: readable });
  expect(await post('/v1/no-such-call', {})).toMatchObject({ status: 404, headers: readable });
});

test('/v1 ignores cookies of such a page', async () => {
  const answer = await post('/v1/chat', { cookie: 'session=ada' });
  expect(answer.status).toBe(401);
  expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
});

test('pages of other sites may not call other paths', async () => {
  expect((await preflight('/api/v1/asset')).status).toBe(405);
  const answer = await post('/api/v1/asset', { 'x-api-key': 'key-of-ada' });
  expect(answer.status).toBe(200);
  expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
});
