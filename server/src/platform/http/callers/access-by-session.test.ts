import { endpoint } from '@bakehouse/contract/endpoint';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { serve } from '../../../testing/serve.ts';
import { bind } from '../bind.ts';

const both = endpoint({
  method: 'POST',
  path: '/api/v1/both',
  access: 'key_or_session',
  summary: 'For tests',
  response: z.object({ id: z.string() }),
});

test('pages of other sites, ports and names cannot use a key or a session', async () => {
  const { url, call } = await serve([bind(both, async (ctx) => ({ id: ctx.caller.userId }))]);
  const post = (headers: Record<string, string>) => call('/api/v1/both', { method: 'POST', headers });
  const cookie = 'session=ada';
  expect(await post({ 'x-api-key': 'key-of-bob', cookie })).toMatchObject({ json: { id: 'bob' } });
  expect((await post({ 'x-api-key': 'wrong', cookie })).status).toBe(401);
  expect(await post({ cookie })).toMatchObject({ status: 200, json: { id: 'ada' } });
  expect((await post({ cookie, origin: url })).status).toBe(200);
  for (const origin of ['https://evil.example', 'http://127.0.0.1:1', 'null']) {
    expect(await post({ cookie, origin })).toMatchObject({
      status: 403,
      json: { error: { code: 'forbidden' } },
    });
  }
  expect((await post({})).status).toBe(401);
});

test('an unsupported method returns 405 with the supported ones, before the key is checked', async () => {
  const { call } = await serve([bind(both, async (ctx) => ({ id: ctx.caller.userId }))]);
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const answer = await call('/api/v1/both', { method });
    expect(answer).toMatchObject({ status: 405, json: { error: { code: 'method_not_allowed' } } });
    expect(answer.headers.allow).toBe('POST');
  }
});
