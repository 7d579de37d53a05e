import fastify from 'fastify';
import { Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { serve } from '../../../testing/serve.ts';
import { mountHealth } from './health-routes.ts';

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

test('a number that cannot be read takes no other with it', async () => {
  const metrics = new Registry();
  new Gauge({
    name: 'loaves_sold',
    help: 'In the database',
    registers: [metrics],
    collect: () => Promise.reject(new Error('the database is away')),
  });
  new Gauge({ name: 'ovens', help: 'In memory', registers: [metrics] }).set(2);
  const app = fastify();
  onFileEnd(() => app.close());
  mountHealth(app, { metrics, metricsToken: null, checkReady: async () => undefined });
  const { statusCode, body } = await app.inject('/metrics');
  expect(statusCode).toBe(200);
  expect(body).toBe('# loaves_sold cannot be read\n\n# HELP ovens In memory\n# TYPE ovens gauge\novens 2\n');
});
