import net from 'node:net';
import { buffer } from 'node:stream/consumers';
import { endpoint } from '@bakehouse/contract/endpoint';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { serve } from '../../testing/serve.ts';
import { createPool, ping } from '../db/database.ts';
import { LiveEvents } from './answer.ts';
import { bind, bindPublic, bindWorkload } from './bind.ts';

const open = { method: 'POST', path: '/api/v1/test', access: 'public', summary: 'For tests' } as const;
const numbers = endpoint({
  ...open,
  body: z.object({ amount: z.number().min(1), list: z.array(z.object({ name: z.string() })).optional() }),
  response: z.object({ doubled: z.number() }),
});

test('passes bytes of any size to the handler as a stream', async () => {
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

  test('requires the user named in the input to be the key’s owner', async () => {
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

  test('to operator and workload endpoints requires such a caller', async () => {
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

  test('is checked at startup: an endpoint must be bound with the binder of its access', () => {
    expect(() => bindPublic(keyed, async () => ({ id: '' }))).toThrow("has access 'key'");
  });
});

test('logs why something was unavailable, once a minute for each route and code', async () => {
  const { call, post, logged } = await serve(
    [bindPublic(numbers, () => Promise.reject(Object.assign(new Error('no more room'), { code: '53100' })))],
    {},
    () => Promise.reject(new Error('could not extend file')),
  );
  for (let i = 0; i < 3; i += 1) {
    expect((await call('/readyz')).status).toBe(503);
    expect((await post({ amount: 1 })).status).toBe(503);
  }
  const [, ...lines] = logged.map((line) => JSON.parse(line));
  expect(lines).toEqual([
    expect.objectContaining({
      level: 40,
      msg: 'request answered with 503',
      path: '/readyz',
      err: expect.objectContaining({ message: 'could not extend file' }),
    }),
    expect.objectContaining({
      path: '/api/v1/test',
      err: expect.objectContaining({ message: 'no more room' }),
    }),
  ]);
});

describe('rate limits', () => {
  const keyed = endpoint({ ...open, path: '/api/v1/keyed', access: 'key' });
  const strict = endpoint({ ...open, path: '/api/v1/strict', access: 'key' });
  const operators = endpoint({ ...open, path: '/api/v1/operators', access: 'operator' });
  const limited = (settings = { BAKEHOUSE_RATE_LIMIT_PER_MINUTE: '2' }) =>
    serve(
      [
        bindPublic(numbers, async () => ({ doubled: 2 })),
        bind(keyed, async () => undefined),
        bind(strict, async () => undefined, { callsPerMinute: 1 }),
        bind(operators, async () => undefined),
      ],
      settings,
    );

  test('count per user, set the standard headers, and are stricter if a route says so', async () => {
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

  test("of zero do not disable a route's own limits", async () => {
    const { call } = await limited({ BAKEHOUSE_RATE_LIMIT_PER_MINUTE: '0' });
    const as = (target: string, key = 'key-of-ada') =>
      call(target, { method: 'POST', headers: { 'x-api-key': key } });
    for (let i = 0; i < 5; i += 1) expect((await as('/api/v1/keyed')).status).toBe(200);
    for (let i = 0; i < 5; i += 1) expect((await as('/api/v1/keyed', 'wrong')).status).toBe(401);
    expect((await as('/api/v1/strict')).status).toBe(200);
    expect((await as('/api/v1/strict')).status).toBe(429);
  });

  test('count failed authentications of an address', async () => {
    const { call } = await limited();
    const fail = () => call('/api/v1/operators', { method: 'POST', headers: { 'x-api-key': 'key-of-ada' } });
    const statuses = [await fail(), await fail(), await fail()].map(({ status }) => status);
    expect(statuses).toEqual([403, 403, 429]);
  });

  test('count the calls of a user over all routes, but no pages', async () => {
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

  test('count public calls per address, even if they carry a key', async () => {
    const { post } = await limited();
    const statuses = [];
    for (const key of ['a', 'key-of-ada', 'b', 'key-of-bob']) {
      statuses.push((await post({ amount: 1 }, { 'x-api-key': key })).status);
    }
    expect(statuses).toEqual([200, 200, 429, 429]);
  });

  test.each([
    ['/api/v1/keyed', 401, ['a', 'b', 'c', 'key-of-ada']],
    ['/api/v1/operators', 403, ['key-of-ada', 'key-of-ada', 'key-of-ada', 'key-of-root']],
  ])('count failures, and let known callers through: %s', async (target, status, keys) => {
    const { call } = await limited();
    const answers = [];
    for (const key of keys)
      answers.push(await call(target, { method: 'POST', headers: { 'x-api-key': key } }));
    expect(answers.map((answer) => answer.status)).toEqual([status, status, 429, 200]);
    expect(answers[2]?.headers['retry-after']).toBeDefined();
  });
});

test('the OpenAPI document is public, and contains only endpoints of the contract', async () => {
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

test.each([
  ['http://bake.example', 'bakehouse.session_token'],
  ['https://bake.example', '__Secure-bakehouse.session_token'],
])('the OpenAPI document names the cookie of a session at %s', async (publicUrl, name) => {
  const { call } = await serve([], { BAKEHOUSE_PUBLIC_URL: publicUrl });
  expect((await call('/openapi.json')).json).toMatchObject({
    components: { securitySchemes: { session: { in: 'cookie', name } } },
  });
});

describe('the web app', () => {
  test('serves its files and its page; programs get errors in their own format', async () => {
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

test('a server whose database hangs soon reports that it is not ready', async () => {
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

describe('shutdown', () => {
  const slow = endpoint({ ...open, path: '/api/v1/slow' });
  const stream = endpoint({ ...open, method: 'GET', path: '/api/v1/stream' });
  const report = endpoint({
    ...open,
    path: '/runtime/v1/workloads/:workloadId/reports',
    access: 'workload',
    params: z.object({ workloadId: z.string() }),
    response: z.object({}),
  });

  test('finishes requests and streams, accepts workload reports throughout, and is quick', async () => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const left = vi.fn();
    const begun = vi.fn();
    const { app, call } = await serve([
      bindPublic(slow, () => {
        begun('slow');
        return finished;
      }),
      bindPublic(
        stream,
        async () =>
          new LiveEvents(async (events) => {
            events.send('change', { id: '1' });
            events.closed.addEventListener('abort', left);
            begun('stream');
          }),
      ),
      bindWorkload(report, async () => ({})),
    ]);
    const streaming = call('/api/v1/stream');
    const working = call('/api/v1/slow', { method: 'POST' });
    await vi.waitFor(() => expect(begun).toHaveBeenCalledTimes(2));

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

  test('waits for responses up to the configured time', async () => {
    const begun = vi.fn();
    const bindings = [
      bindPublic(slow, () => {
        begun();
        return new Promise<void>(() => undefined);
      }),
    ];
    const { app, call } = await serve(bindings, { BAKEHOUSE_DRAIN_SECONDS: '0.2' });
    const working = call('/api/v1/slow', { method: 'POST' });
    await vi.waitFor(() => expect(begun).toHaveBeenCalledOnce());
    await app.drain();
    await Promise.all([app.close(), expect(working).rejects.toThrow()]);
  }, 10_000);

  test('cuts a response that does not end', async () => {
    const begun = vi.fn();
    const { app, call } = await serve([
      bindPublic(slow, () => {
        begun();
        return new Promise<void>(() => undefined);
      }),
    ]);
    const working = call('/api/v1/slow', { method: 'POST' });
    await vi.waitFor(() => expect(begun).toHaveBeenCalledOnce());
    await Promise.all([app.close(), expect(working).rejects.toThrow()]);
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

test('metrics count abandoned requests separately', async () => {
  const slow = endpoint({ ...open, path: '/api/v1/slow' });
  const begun = vi.fn();
  const { call } = await serve([
    bindPublic(slow, () => {
      begun();
      return new Promise<void>(() => undefined);
    }),
  ]);
  const leaving = new AbortController();
  const asked = call('/api/v1/slow', { method: 'POST', signal: leaving.signal });
  await vi.waitFor(() => expect(begun).toHaveBeenCalledOnce());
  leaving.abort();
  await expect(asked).rejects.toThrow();
  await vi.waitFor(async () =>
    expect((await call('/metrics')).text).toContain(
      'bakehouse_http_request_duration_seconds_count{method="POST",route="/api/v1/slow",status="499"} 1',
    ),
  );
});
