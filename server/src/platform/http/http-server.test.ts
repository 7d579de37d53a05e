import net from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { endpoint } from '@bakehouse/contract/endpoint';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { serve } from '../../testing/serve.ts';
import { createPool, ping } from '../db/database.ts';
import { AppError } from '../errors.ts';
import { bind, bindPublic, bindWorkload } from './bind.ts';
import { openEventStream } from './server-sent-events.ts';

const open = { method: 'POST', path: '/api/v1/test', access: 'public', summary: 'For tests' } as const;
const numbers = endpoint({
  ...open,
  body: z.object({ amount: z.number().min(1), list: z.array(z.object({ name: z.string() })).optional() }),
  response: z.object({ doubled: z.number() }),
});

describe('errors on the wire', () => {
  test('name the field that is wrong, and echo the request id', async () => {
    const { post } = await serve([
      bindPublic(numbers, async (_ctx, { body }) => ({ doubled: body.amount * 2 })),
    ]);
    expect((await post({ amount: 4 })).json).toEqual({ doubled: 8 });
    const answer = await post(
      { amount: 4, list: [{ name: 'a' }, { name: 7 }] },
      { 'x-request-id': 'from-the-browser' },
    );
    expect(answer.status).toBe(400);
    expect(answer.headers['x-request-id']).toBe('from-the-browser');
    expect(answer.json.error).toMatchObject({
      code: 'invalid_request',
      type: 'invalid_request_error',
      param: 'list.1.name',
      request_id: 'from-the-browser',
    });
    expect(answer.json.error.message).toContain('list.1.name');
  });

  test.each([
    ['a field', { title: 'a\0b' }, '', 'title'],
    ['a field within', { deep: { list: [{ name: 'fine' }, { name: '\ud800' }] } }, '', 'deep.list.1.name'],
    ["a field's name", { deep: { 'na\0me': 1 } }, '', 'deep.name'],
    ['the query', {}, '?search=a%00', 'search'],
  ])('name %s that holds what no database stores', async (_where, body, query, param) => {
    const handle = vi.fn(async () => ({}));
    const takesAll = endpoint({
      ...open,
      query: z.object({ search: z.string().optional() }),
      body: z.looseObject({}),
      response: z.object({}),
    });
    const { call } = await serve([bindPublic(takesAll, handle)]);
    const send = (target: string, value: unknown) =>
      call(target, {
        method: 'POST',
        body: JSON.stringify(value),
        headers: { 'content-type': 'application/json' },
      });
    const answer = await send(`/api/v1/test${query}`, body);
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'invalid_request', param } } });
    expect(answer.json.error.message).toContain(param);
    expect(handle).not.toHaveBeenCalled();
    expect((await send('/api/v1/test?search=%F0%9F%98%80', { title: '😀' })).status).toBe(200);
  });

  test('name a part of the path that holds what no database stores, also of paths that nobody has', async () => {
    const item = endpoint({
      method: 'GET',
      path: '/api/v1/items/:itemId',
      access: 'key',
      summary: 'For tests',
      params: z.object({ itemId: z.string() }),
      response: z.object({}),
    });
    const { call } = await serve([bind(item, async () => ({}))]);
    const answer = await call('/api/v1/items/a%00b', { headers: { 'x-api-key': 'key-of-ada' } });
    expect(answer).toMatchObject({ status: 400, json: { error: { param: 'itemId' } } });
    expect((await call('/assets/a%00.js')).status).toBe(400);
  });

  test('leave it to the engine to clean what a workload quotes', async () => {
    const reports = endpoint({
      ...open,
      path: '/runtime/v1/workloads/:workloadId/reports',
      access: 'workload',
      params: z.object({ workloadId: z.string() }),
      body: z.object({ line: z.string() }),
      response: z.object({ line: z.string() }),
    });
    const { call } = await serve([bindWorkload(reports, async (_ctx, { body }) => body)]);
    const answer = await call('/runtime/v1/workloads/w/reports', {
      method: 'POST',
      body: JSON.stringify({ line: 'a\0b' }),
      headers: { 'content-type': 'application/json', authorization: 'Bearer token-of-w' },
    });
    expect(answer).toMatchObject({ status: 200, json: { line: 'a\0b' } });
  });

  test('carry what an AppError says', async () => {
    const fails = bindPublic(numbers, async () => {
      throw new AppError('insufficient_funds', {
        publicMessage: 'Not enough credit',
        data: { required_amount: '10', available_amount: '2.5' },
      });
    });
    const { post } = await serve([fails]);
    const answer = await post({ amount: 1 });
    expect(answer.status).toBe(402);
    expect(answer.json.error).toMatchObject({
      code: 'insufficient_funds',
      message: 'Not enough credit',
      required_amount: '10',
      available_amount: '2.5',
    });
  });

  test('never show what broke inside, but log it with the request id', async () => {
    const { post, logged } = await serve([
      bindPublic(numbers, async () => {
        throw new Error('relation "secret_table" does not exist');
      }),
    ]);
    const answer = await post({ amount: 1 }, { 'x-request-id': 'r-1' });
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('secret_table');
    expect(answer.json.error).toMatchObject({ code: 'internal', type: 'server_error', request_id: 'r-1' });
    expect(
      logged.filter((line) => line.includes('secret_table') && line.includes('"request_id":"r-1"')),
    ).toHaveLength(1);
  });

  test('an answer that breaks its own contract is our fault, not shown', async () => {
    const { post } = await serve([bindPublic(numbers, async () => ({ doubled: 'two' }) as never)]);
    expect(await post({ amount: 1 })).toMatchObject({ status: 500, json: { error: { code: 'internal' } } });
  });

  test('broken and oversized bodies are the caller’s', async () => {
    const { call } = await serve([bindPublic(numbers, async () => ({ doubled: 2 }))]);
    const headers = { 'content-type': 'application/json' };
    const broken = await call('/api/v1/test', { method: 'POST', body: '{"amount":', headers });
    expect(broken).toMatchObject({ status: 400, json: { error: { code: 'invalid_request' } } });
    const large = await call('/api/v1/test', {
      method: 'POST',
      body: JSON.stringify('x'.repeat(9 * 2 ** 20)),
      headers,
    });
    expect(large).toMatchObject({ status: 413, json: { error: { code: 'payload_too_large' } } });
    const unknown = await call('/api/v1/nothing', { method: 'POST' });
    expect(unknown).toMatchObject({
      status: 404,
      json: { error: { message: 'There is no POST /api/v1/nothing' } },
    });
  });
});

test('bytes are left to the handler as a stream, of any length', async () => {
  const upload = endpoint({
    ...open,
    method: 'PUT',
    path: '/api/v1/bytes',
    response: z.object({ length: z.number() }),
  });
  const { call } = await serve([
    bindPublic(upload, async (_ctx, _input, { request }) => ({ length: (await buffer(request.raw)).length })),
  ]);
  const body = Buffer.alloc(20 * 2 ** 20);
  const answer = await call('/api/v1/bytes', {
    method: 'PUT',
    body,
    headers: { 'content-type': 'application/octet-stream' },
  });
  expect(answer.json).toEqual({ length: body.length });
});

describe('access', () => {
  const keyed = endpoint({
    ...open,
    access: 'key',
    body: z.object({ user_id: z.string() }),
    response: z.object({ id: z.string() }),
  });
  const operators = endpoint({
    ...open,
    path: '/api/v1/operators',
    access: 'operator',
    response: z.object({}),
  });
  const report = endpoint({
    ...open,
    path: '/runtime/v1/workloads/:workloadId/reports',
    access: 'workload',
    params: z.object({ workloadId: z.string() }),
    response: z.object({ id: z.string() }),
  });

  test('belongs to the key’s owner, whoever the input names', async () => {
    const { post } = await serve([bind(keyed, async (ctx) => ({ id: ctx.caller.userId }))]);
    expect((await post({ user_id: 'ada' })).status).toBe(401);
    expect((await post({ user_id: 'ada' }, { 'x-api-key': 'wrong' })).status).toBe(401);
    expect(await post({ user_id: 'ada' }, { 'x-api-key': 'key-of-bob' })).toMatchObject({
      status: 403,
      json: { error: { param: 'user_id' } },
    });
    expect((await post({ user_id: 'ada' }, { 'x-api-key': 'key-of-ada' })).json).toEqual({ id: 'ada' });
    expect((await post({ user_id: 'ada' }, { authorization: 'Bearer key-of-ada' })).json).toEqual({
      id: 'ada',
    });
  });

  test('of operators and workloads is theirs alone', async () => {
    const { call } = await serve([
      bind(operators, async () => ({})),
      bindWorkload(report, async (ctx) => ({ id: ctx.caller.workloadId })),
    ]);
    const as = (target: string, headers: Record<string, string>) => call(target, { method: 'POST', headers });
    expect((await as('/api/v1/operators', { 'x-api-key': 'key-of-ada' })).status).toBe(403);
    expect((await as('/api/v1/operators', { 'x-api-key': 'key-of-root' })).status).toBe(200);
    expect(
      (await as('/runtime/v1/workloads/w1/reports', { authorization: 'Bearer token-of-w2' })).status,
    ).toBe(401);
    expect((await as('/runtime/v1/workloads/w1/reports', { 'x-api-key': 'key-of-ada' })).status).toBe(401);
    expect(
      (await as('/runtime/v1/workloads/w1/reports', { authorization: 'Bearer token-of-w1' })).json,
    ).toEqual({ id: 'w1' });
  });

  test('cannot be bound with the wrong binder', () => {
    expect(() => bindPublic(keyed, async () => ({ id: '' }))).toThrow("has access 'key'");
  });
});

describe('rate limits', () => {
  const keyed = endpoint({ ...open, path: '/api/v1/keyed', access: 'key' });
  const strict = endpoint({ ...open, path: '/api/v1/strict', access: 'key' });
  const operators = endpoint({ ...open, path: '/api/v1/operators', access: 'operator' });
  const limited = () =>
    serve(
      [
        bindPublic(numbers, async () => ({ doubled: 2 })),
        bind(keyed, async () => undefined),
        bind(strict, async () => undefined, { callsPerMinute: 1 }),
        bind(operators, async () => undefined),
      ],
      { BAKEHOUSE_RATE_LIMIT_PER_MINUTE: '2' },
    );

  test('count per user, show the standard headers, and are stricter where a route says so', async () => {
    const { call } = await limited();
    const as = (user: string, target = '/api/v1/keyed') =>
      call(target, { method: 'POST', headers: { 'x-api-key': `key-of-${user}` } });
    expect((await as('ada')).headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '1' });
    await as('ada');
    const third = await as('ada');
    expect(third).toMatchObject({ status: 429, json: { error: { code: 'rate_limited' } } });
    expect(third.headers['retry-after']).toBeDefined();
    expect((await as('bob')).status).toBe(200);
    expect((await as('bob', '/api/v1/strict')).status).toBe(200);
    expect((await as('bob', '/api/v1/strict')).status).toBe(429);
    for (let i = 0; i < 5; i += 1) expect((await call('/healthz')).status).toBe(200);
  });

  test('count a user over all routes, and no pages at all', async () => {
    const { call } = await limited();
    const headers = { 'x-api-key': 'key-of-ada' };
    expect((await call('/api/v1/keyed', { method: 'POST', headers })).status).toBe(200);
    expect((await call('/api/v1/strict', { method: 'POST', headers })).status).toBe(200);
    expect((await call('/api/v1/keyed', { method: 'POST', headers })).status).toBe(429);
    for (let i = 0; i < 5; i += 1) {
      expect((await call('/assets/app-a1b2c3.js')).status).toBe(200);
      expect((await call('/login', { headers: { accept: 'text/html' } })).status).toBe(200);
    }
  });

  test('count public calls per address, whatever key they carry', async () => {
    const { post } = await limited();
    const statuses = [];
    for (const key of ['a', 'key-of-ada', 'b', 'key-of-bob']) {
      statuses.push((await post({ amount: 1 }, { 'x-api-key': key })).status);
    }
    expect(statuses).toEqual([200, 200, 429, 429]);
  });

  test.each([
    ['/api/v1/keyed', 401],
    ['/api/v1/operators', 403],
  ])('count what fails before it is known who calls: %s', async (target, status) => {
    const { call } = await limited();
    const keys =
      status === 401 ? ['a', 'b', 'c', 'key-of-ada'] : Array.from({ length: 4 }, () => 'key-of-ada');
    const answers = [];
    for (const key of keys)
      answers.push(await call(target, { method: 'POST', headers: { 'x-api-key': key } }));
    expect(answers.map((answer) => answer.status)).toEqual([status, status, 429, 429]);
    expect(answers[2]?.headers['retry-after']).toBeDefined();
  });
});

test('the OpenAPI document is for everyone, and leaves out what is not in the contract', async () => {
  const { call } = await serve([bindPublic(numbers, async () => ({ doubled: 2 }))]);
  const answer = await call('/openapi.json');
  expect(answer.status).toBe(200);
  expect(answer.json).toMatchObject({
    openapi: '3.1.0',
    paths: { '/api/v1/test': { post: { summary: 'For tests' } } },
  });
  expect(answer.text).not.toContain('/healthz');
  expect(answer.text).not.toContain('/openapi.json');
});

describe('the web app', () => {
  test('gets its files and its page, and programs get their errors', async () => {
    const { call } = await serve([]);
    const asset = await call('/assets/app-a1b2c3.js');
    expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(asset.headers['content-type']).toMatch(/javascript/);
    for (const target of ['/', '/login', '/model/a%2Fb/description', '/users/ada.b']) {
      const page = await call(target, { headers: { accept: 'text/html' } });
      expect(page).toMatchObject({ status: 200, text: '<!doctype html><title>Bakehouse</title>' });
      expect(page.headers['cache-control']).toBe('no-cache');
      expect(page.headers['content-security-policy']).toContain("script-src 'self'");
    }
    for (const target of ['/api/v1/nothing', '/v1/nothing', '/runtime/x', '/healthz/x', '/assets/gone.js']) {
      expect(await call(target)).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
    }
    for (const target of ['/api', '/v1', '/huggingface/clone-status/1', '/ada/rolls.git/info/refs']) {
      const answer = await call(target, { headers: { accept: 'text/html' } });
      expect(answer).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
    }
    expect(await call('/login')).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
    expect((await call('/../../etc/passwd')).text).not.toContain('root:');
    expect((await call('/assets/..%2f..%2f..%2fetc%2fpasswd')).text).not.toContain('root:');
  });
});

test('a server whose database hangs is not ready, and says so in time', async () => {
  const hanging = net.createServer();
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
  hanging.on('connection', (socket) => onFileEnd(async () => void socket.destroy()));
  onFileEnd(async () => void hanging.close());
  const { port } = hanging.address() as net.AddressInfo;
  const pool = createPool(`postgresql://nobody@127.0.0.1:${port}/nothing`);
  const { call } = await serve([], {}, () => ping(pool));
  expect(await call('/readyz')).toMatchObject({
    status: 503,
    json: { error: { code: 'unavailable', message: 'The database does not answer or cannot be written to' } },
  });
}, 10_000);

describe('the end', () => {
  const slow = endpoint({ ...open, path: '/api/v1/slow' });
  const stream = endpoint({ ...open, method: 'GET', path: '/api/v1/stream' });
  const report = endpoint({
    ...open,
    path: '/runtime/v1/workloads/:workloadId/reports',
    access: 'workload',
    params: z.object({ workloadId: z.string() }),
    response: z.object({}),
  });

  test('finishes requests and streams, hears workloads to the last, and comes soon', async () => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const left = vi.fn();
    const { app, call } = await serve([
      bindPublic(slow, () => finished),
      bindPublic(stream, async (_ctx, _input, io) => {
        const events = openEventStream(io);
        events.send('change', { id: '1' });
        events.closed.addEventListener('abort', left);
      }),
      bindWorkload(report, async () => ({})),
    ]);
    const streaming = call('/api/v1/stream');
    const working = call('/api/v1/slow', { method: 'POST' });
    await vi.waitFor(async () => expect((await call('/metrics')).status).toBe(200));
    await sleep(50);

    const draining = app.drain();
    const streamed = await streaming;
    expect(streamed.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(streamed.headers['content-security-policy']).toBeDefined();
    expect(streamed.text).toBe(': open\n\nevent: change\ndata: {"id":"1"}\n\n');
    expect(left).toHaveBeenCalledOnce();
    expect(await call('/api/v1/slow', { method: 'POST' })).toMatchObject({
      status: 503,
      json: { error: { code: 'unavailable' } },
    });
    const reported = await call('/runtime/v1/workloads/w/reports', {
      method: 'POST',
      headers: { authorization: 'Bearer token-of-w' },
    });
    expect(reported.status).toBe(200);

    finish();
    expect((await working).status).toBe(200);
    await draining;
    await app.close();
  }, 10_000);
});

test('metrics count requests by route, not by path', async () => {
  const { call } = await serve([]);
  await call('/healthz');
  await call('/some/page', { headers: { accept: 'text/html' } });
  const { text } = await call('/metrics');
  expect(text).toContain(
    'bakehouse_http_request_duration_seconds_count{method="GET",route="/healthz",status="200"} 1',
  );
  expect(text).not.toContain('some/page');
});
