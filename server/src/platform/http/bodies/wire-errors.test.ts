import { endpoint } from '@bakehouse/contract/endpoint';
import { only } from '@bakehouse/contract/fields/only';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { serve } from '../../../testing/serve.ts';
import { AppError } from '../../errors.ts';
import { bind, bindPublic, bindWorkload } from '../bind.ts';

const open = { method: 'POST', path: '/api/v1/test', access: 'public', summary: 'For tests' } as const;
const numbers = endpoint({
  ...open,
  body: z.object({ amount: z.number().min(1), list: z.array(z.object({ name: z.string() })).optional() }),
  response: z.object({ doubled: z.number() }),
});

describe('error responses', () => {
  test('name the invalid field, and echo the request id', async () => {
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
    ['conflict', undefined, 'false'],
    ['timed_out', undefined, undefined],
    ['timed_out', false, 'false'],
  ] as const)(
    'tell for %s whether a retry makes sense (%s): x-should-retry %s',
    async (code, shouldRetry, said) => {
      const { post } = await serve([
        bindPublic(numbers, async () => {
          throw new AppError(code, { publicMessage: 'No', shouldRetry });
        }),
      ]);
      expect((await post({ amount: 4 })).headers['x-should-retry']).toBe(said);
    },
  );

  test('name an unknown field', async () => {
    const strict = endpoint({
      ...open,
      body: z.object({ deep: only({ name: z.string() }) }),
      response: z.object({}),
    });
    const { post } = await serve([bindPublic(strict, async () => ({}))]);
    expect((await post({ deep: { name: 'x', nme: 'y' } })).json.error).toMatchObject({
      message: 'Unknown field: nme',
      param: 'deep.nme',
    });
  });

  test.each(['{"amount":4,"__proto__":{"k":8}}', '{"constructor":{"prototype":{}}}', '{"amount":'])(
    'name the field that must not be in %s, and only call other text invalid',
    async (body) => {
      const { call } = await serve([bindPublic(numbers, async () => ({ doubled: 0 }))]);
      const headers = { 'content-type': 'application/json' };
      const { json, status } = await call('/api/v1/test', { method: 'POST', body, headers });
      const name = /__proto__|constructor/.exec(body)?.[0] ?? null;
      expect(status).toBe(400);
      if (name === null) expect(json.error.message).toContain('not valid JSON');
      else {
        expect(json.error.param).toContain(name);
        expect(json.error.message).toMatch(/cannot be the name of a field. Remove it$/);
      }
    },
  );

  test('name all missing fields, and a missing body', async () => {
    const two = endpoint({
      ...open,
      body: z.object({ from: z.string(), kind: z.enum(['a', 'b']), note: z.string().optional() }),
      response: z.object({}),
    });
    const { post } = await serve([bindPublic(two, async () => ({}))]);
    const missing = await post({ note: 'x' });
    expect(missing.json.error).toMatchObject({ message: 'from and kind are required', param: 'from' });
    expect((await post({ kind: 'a' })).json.error.message).toBe('from is required');
    expect((await post({ from: 'x', kind: 'c' })).json.error.message).toBe('kind must be one of a, b');
  });

  test.each([
    ['a field', { title: 'a\0b' }, '', 'title'],
    ['a nested field', { deep: { list: [{ name: 'fine' }, { name: '\ud800' }] } }, '', 'deep.list.1.name'],
    ["a field's name", { deep: { 'na\0me': 1 } }, '', 'deep.name'],
    ['the query', {}, '?search=a%00', 'search'],
  ])('name %s that contains text that databases cannot store', async (_where, body, query, param) => {
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

  test('name a path segment that contains text that PostgreSQL cannot store, also for unknown paths', async () => {
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
    const encoded = '/%61pi/v1/items/a%00b?search=%00';
    const headers = { 'x-api-key': 'key-of-ada', accept: 'text/html' };
    expect(await call(encoded, { headers })).toMatchObject({
      status: 400,
      json: { error: { param: 'itemId' } },
    });
  });

  test.each(['/runs/%00', '/gallery?q=a%00', '/runs/%zz', '/%ff?tab=log'])(
    'do not replace the page if a browser requests %s',
    async (url) => {
      const { call } = await serve([]);
      const page = await call(url, { headers: { accept: 'text/html,*/*;q=0.8' } });
      expect(page).toMatchObject({ status: 200, text: expect.stringContaining('<title>Bakehouse</title>') });
      expect((await call(url, { headers: { accept: 'application/json' } })).status).toBe(400);
      expect((await call(`/api/v1${url}`, { headers: { accept: 'text/html' } })).status).toBe(400);
    },
  );

  test('are not used for output quoted by a workload: the engine cleans it', async () => {
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

  test('contain the fields of an AppError', async () => {
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

  test('never show internal errors, but log them with the request id', async () => {
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

  test('a response that violates its own contract is reported as a server error, without details', async () => {
    const { post } = await serve([bindPublic(numbers, async () => ({ doubled: 'two' }) as never)]);
    expect(await post({ amount: 1 })).toMatchObject({ status: 500, json: { error: { code: 'internal' } } });
  });

  test('broken and oversized bodies are caller errors', async () => {
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
