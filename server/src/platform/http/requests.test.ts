import net from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { endpoint } from '@bakehouse/contract/endpoint';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { serve } from '../../testing/serve.ts';
import { Answer } from './answer.ts';
import { bindPublic } from './bind.ts';

const read = { method: 'GET', access: 'public', summary: 'For tests' } as const;
const loaves = endpoint({
  ...read,
  path: '/v1/loaves',
  query: z.object({ of: z.string() }),
  response: z.array(z.string()),
});
const loaf = endpoint({
  ...read,
  path: '/v1/loaves/:loaf',
  params: z.object({ loaf: z.string() }),
  response: z.string(),
});
const file = endpoint({ ...read, path: '/v1/file' });

async function bakery() {
  return serve([
    bindPublic(loaves, async (_ctx, { query }) => [query.of]),
    bindPublic(loaf, async (_ctx, { params }) => params.loaf),
    bindPublic(file, async () => {
      const headers = { 'cache-control': 'private, no-cache' };
      return new Answer(Buffer.from('bytes'), { headers });
    }),
  ]);
}

test('responses, including errors, are not cacheable, except files for a stated time', async () => {
  const { call } = await bakery();
  for (const path of ['/v1/loaves?of=rye', '/v1/loaves', '/api/v1/nothing'])
    expect((await call(path)).headers['cache-control'], path).toBe('no-store');
  expect((await call('/v1/file')).headers['cache-control']).toBe('private, no-cache');
  expect((await call('/openapi.json')).headers['cache-control']).toBeUndefined();
});

test('a path may end with a slash', async () => {
  const { call } = await bakery();
  expect((await call('/v1/loaves/?of=rye')).json).toEqual(['rye']);
  expect((await call('/v1/loaves/spelt/')).json).toBe('spelt');
});

test('a request with two Host headers is rejected', async () => {
  const { url } = await serve([]);
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  socket.end('GET /healthz HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\nConnection: close\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1.1 400 [^]*"param":"Host"/);
});

test('the OpenAPI document shows which bodies are optional', async () => {
  const body = z.object({ of: z.string() });
  const post = { ...read, method: 'POST' } as const;
  const { call } = await serve([
    bindPublic(endpoint({ ...post, path: '/v1/needed', body }), async () => undefined),
    bindPublic(endpoint({ ...post, path: '/v1/optional', body: body.nullish() }), async () => undefined),
  ]);
  expect((await call('/openapi.json')).json).toMatchObject({
    paths: {
      '/v1/needed': { post: { requestBody: { required: true } } },
      '/v1/optional': { post: { requestBody: { required: false } } },
    },
  });
  expect((await call('/v1/optional', { method: 'POST' })).status).toBe(200);
});

test('does not log a client that disconnects while sending its body as a failure', async () => {
  const failed = Promise.withResolvers<void>();
  const { app, url, logged } = await serve([
    bindPublic(endpoint({ ...read, method: 'PUT', path: '/v1/put' }), async (_ctx, _input, { request }) => {
      await buffer(request.raw).finally(failed.resolve);
    }),
  ]);
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1', () => {
    const type = 'content-type: application/octet-stream';
    socket.write(`PUT /v1/put HTTP/1.1\r\nhost: x\r\n${type}\r\ncontent-length: 9\r\n\r\npart`);
  });
  app.server.once('request', () => socket.destroy());
  await failed.promise;
  await app.close();
  expect(logged.filter((line) => line.includes('request failed'))).toEqual([]);
});

test('a path parameter that is too long gets an error in the common format', async () => {
  const bake = endpoint({ ...read, method: 'POST', path: '/v1/loaves/:loaf', params: loaf.params });
  const { call } = await serve([bindPublic(bake, async () => {})]);
  const answer = await call(`/v1/loaves/${'x'.repeat(600)}`, { method: 'POST' });
  expect(answer).toMatchObject({ status: 400, json: { error: { code: 'invalid_request' } } });
});
