import { get } from 'node:http';
import fastify from 'fastify';
import { Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { readConfig } from '../../../config.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { serve } from '../../../testing/serve.ts';
import { mountHealth } from './monitoring.ts';

test('metrics are restricted to this machine, excluding requests forwarded by its proxy', async () => {
  const { call } = await serve([]);
  expect((await call('/metrics')).status).toBe(200);
  const forwarded = await call('/metrics', { headers: { 'x-forwarded-for': '203.0.113.9' } });
  expect(forwarded).toMatchObject({ status: 403, json: { error: { code: 'forbidden' } } });
});

test('a proxy without forwarding headers is recognised by the public host name', async () => {
  const { url } = await serve([], { BAKEHOUSE_PUBLIC_URL: 'https://bake.example' });
  const read = (host: string) =>
    new Promise((resolve) => {
      get(`${url}/metrics`, { headers: { host } }, (answer) => resolve(answer.resume().statusCode));
    });
  expect(await read('bake.example')).toBe(403);
  for (const host of ['localhost:4080', '127.0.0.1:4080', '[::1]:4080']) expect(await read(host)).toBe(200);
});

test('metrics with a token are available to any caller with the token', async () => {
  const { call } = await serve([], { BAKEHOUSE_METRICS_TOKEN: 'only-prometheus-knows' });
  const read = (authorization: string) =>
    call('/metrics', { headers: { authorization, 'x-forwarded-for': '203.0.113.9' } });
  expect((await call('/metrics')).status).toBe(401);
  expect((await read('Bearer something-else-here')).status).toBe(401);
  expect((await read('Bearer only-prometheus-knows')).status).toBe(200);
});

test('a metric that cannot be read does not affect others', async () => {
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
  mountHealth(app, { metrics, config: readConfig({}), checkReady: async () => undefined });
  const { statusCode, body } = await app.inject('/metrics');
  expect(statusCode).toBe(200);
  expect(body).toBe('# loaves_sold cannot be read\n\n# HELP ovens In memory\n# TYPE ovens gauge\novens 2\n');
});
