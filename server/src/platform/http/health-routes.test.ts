import { expect, test } from 'vitest';
import { serve } from '../../testing/serve.ts';

test('metrics are for this machine alone, and not for whom its proxy speaks', async () => {
  const { call } = await serve([]);
  expect((await call('/metrics')).status).toBe(200);
  const forwarded = await call('/metrics', { headers: { 'x-forwarded-for': '203.0.113.9' } });
  expect(forwarded).toMatchObject({ status: 403, json: { error: { code: 'forbidden' } } });
});

test('metrics with a token are for whoever has it', async () => {
  const { call } = await serve([], { BAKEHOUSE_METRICS_TOKEN: 'only-prometheus-knows' });
  const read = (authorization: string) =>
    call('/metrics', { headers: { authorization, 'x-forwarded-for': '203.0.113.9' } });
  expect((await call('/metrics')).status).toBe(401);
  expect((await read('Bearer something-else-here')).status).toBe(401);
  expect((await read('Bearer only-prometheus-knows')).status).toBe(200);
});
