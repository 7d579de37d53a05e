import net from 'node:net';
import { text } from 'node:stream/consumers';
import { endpoint } from '@bakehouse/contract/endpoint';
import Fastify from 'fastify';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { serve } from '../../../testing/serve.ts';
import { bind, bindPublic, bindWorkload } from '../bind.ts';
import { sendError } from '../send-error.ts';
import { closeSlowBodies } from './body-limits.ts';

const words = {
  method: 'POST',
  path: '/api/v1/test',
  access: 'key',
  summary: 'For tests',
  body: z.looseObject({ title: z.string() }),
  response: z.object({ title: z.string() }),
} as const;
const keyed = bind(endpoint(words), async (_ctx, { body }) => ({ title: body.title }));
const optional = bind(
  endpoint({ ...words, path: '/api/v1/bare', body: undefined, response: z.object({}) }),
  async () => ({}),
);
const roomy = bind(endpoint({ ...words, path: '/api/v1/roomy', bodyBytesMax: 200_000 }), async () => ({
  title: '',
}));
const open = bindPublic(endpoint({ ...words, path: '/api/v1/open', access: 'public' }), async () => ({
  title: '',
}));
const large = bind(
  endpoint({ ...words, path: '/api/v1/large', isForm: true, bodyBytesMax: 30 * 1024 * 1024 }),
  async () => ({ title: '' }),
);
const reports = bindWorkload(
  endpoint({
    ...words,
    access: 'workload',
    bodyBytesMax: 8 * 1024 * 1024,
    path: '/runtime/v1/workloads/:workloadId/reports',
    params: z.object({ workloadId: z.string() }),
  }),
  async () => ({ title: '' }),
);
const ada = { 'x-api-key': 'key-of-ada' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const json = { 'content-type': 'application/json' };

describe('a body', () => {
  test('has at most 64 KB, unless its endpoint accepts larger ones', async () => {
    const { call } = await serve([keyed, roomy]);
    const send = (target: string, bytes: number) =>
      call(target, {
        method: 'POST',
        headers: { ...json, ...ada },
        body: JSON.stringify({ title: 'x'.repeat(bytes) }),
      });
    expect((await send('/api/v1/test', 60_000)).status).toBe(200);
    expect(await send('/api/v1/test', 70_000)).toMatchObject({
      status: 413,
      json: { error: { code: 'payload_too_large' } },
    });
    expect((await send('/api/v1/roomy', 190_000)).status).toBe(200);
    expect((await send('/api/v1/roomy', 210_000)).status).toBe(413);
  });

  test('of an unauthenticated caller is rejected before it is read', async () => {
    const { url } = await serve([roomy]);
    const { port } = new URL(url);
    const socket = net.connect(Number(port), '127.0.0.1');
    socket.write(
      'POST /api/v1/roomy HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 190000\r\n\r\n{',
    );
    const head = await new Promise<string>((resolve) =>
      socket.once('data', (bytes) => resolve(String(bytes))),
    );
    socket.destroy();
    expect(head).toMatch(/^HTTP\/1\.1 401 /);
  });

  test.each([
    ['nothing in JSON', { ...json, ...ada }, '', 200],
    ['nothing at all', ada, undefined, 200],
  ])('may be empty if none is needed: %s', async (_what, headers, body, status) => {
    const { call } = await serve([optional]);
    expect((await call('/api/v1/bare', { method: 'POST', headers, body })).status).toBe(status);
  });

  test.each(['application/x-www-form-urlencoded', 'text/plain;charset=UTF-8', ''])(
    'with JSON but without a JSON content type is accepted with a key: %s',
    async (type) => {
      const { call } = await serve([keyed, open]);
      const body = new Blob(['{"title":"bread"}'], { type });
      const headers = type === '' ? {} : { 'content-type': type };
      const answer = await call('/api/v1/test', { method: 'POST', headers: { ...headers, ...ada }, body });
      expect(answer).toMatchObject({ status: 200, json: { title: 'bread' } });
      expect(await call('/api/v1/open', { method: 'POST', headers, body })).toMatchObject({
        status: 415,
        json: { error: { code: 'unsupported_media_type', param: 'Content-Type' } },
      });
    },
  );

  test.each([
    ['a form', 'application/x-www-form-urlencoded', 'title=bread'],
    ['XML', 'application/xml', '<title/>'],
  ])('that is not JSON is rejected with the header to send: %s', async (_what, type, body) => {
    const { call } = await serve([keyed]);
    const answer = await call('/api/v1/test', {
      method: 'POST',
      headers: { 'content-type': type, ...ada },
      body,
    });
    expect(answer.status).toBe(415);
    expect(answer.json.error.message).toContain('Content-Type: application/json');
  });

  test.each([
    ['fields', json, `{${'"a":1,'.repeat(2_000_000)}"title":"bread"}`],
    ['levels', json, `{"title":"bread","deep":${'['.repeat(5_000_000)}${']'.repeat(5_000_000)}}`],
    ['without a content type', { 'content-type': 'text/plain' }, `[${'1,'.repeat(5_000_000)}1]`],
    ['of a form', form, 'a=&'.repeat(4_000_000)],
    ['a conversation', json, `{"title":"bread","parts":[${'{},'.repeat(300_000)}{}]}`],
    ['after a text with quotes', json, `{"title":"\\"\\\\","parts":[${'0,'.repeat(60_000)}0]}`],
  ])('with too many fields is rejected before parsing: %s', async (_what, headers, body) => {
    const { call } = await serve([large]);
    const answer = await call('/api/v1/large', { method: 'POST', headers: { ...headers, ...ada }, body });
    expect(answer).toMatchObject({
      status: 400,
      json: {
        error: {
          code: 'invalid_request',
          message: 'The body has too many fields. Send only those that this call takes',
        },
      },
    });
  });

  test('may be large if its endpoint allows it', async () => {
    const { call } = await serve([large]);
    const title = `data:image/png;base64,${'A'.repeat(20_000_000)}`;
    const said = '"[{,}]"\\'.repeat(100_000);
    for (const [headers, body] of [
      [json, JSON.stringify({ title, said, rows: Array.from({ length: 5_000 }, (_, row) => ({ row })) })],
      [form, new URLSearchParams({ title }).toString()],
    ] as const)
      expect(
        (await call('/api/v1/large', { method: 'POST', headers: { ...headers, ...ada }, body })).status,
      ).toBe(200);
  });

  test('of a workload may quote output that cannot be stored', async () => {
    const { call } = await serve([reports]);
    const answer = await call('/runtime/v1/workloads/oven/reports', {
      method: 'POST',
      headers: { ...json, authorization: 'Bearer token-of-oven' },
      body: JSON.stringify({ title: '[1, 2, 3]'.repeat(500_000) }),
    });
    expect(answer.status).toBe(200);
  });

  test('that is nested too deeply is rejected', async () => {
    const { call } = await serve([keyed]);
    const body = `{"title":"a","deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    expect(await call('/api/v1/test', { method: 'POST', headers: { ...json, ...ada }, body })).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request' } },
    });
  });
});

describe('a slow body', () => {
  async function slow(
    handler: () => unknown,
    sent: string,
    options: { lift?: boolean; limit?: number } = {},
  ) {
    const app = Fastify({ bodyLimit: options.limit ?? 10_000 });
    app.setErrorHandler(sendError);
    app.addHook('onRequest', async (request) => {
      request.caller = { kind: 'nobody' };
    });
    closeSlowBodies(app, 50);
    app.route({
      method: 'POST',
      url: '/',
      handler: async (request) => {
        if (options.lift) request.liftBodyDeadline();
        return handler();
      },
    });
    app.post('/early', { onRequest: async (_request, reply) => reply.code(401).send('no') }, async () => '');
    app.addContentTypeParser('application/octet-stream', (_request, _payload, done) => done(null));
    onFileEnd(() => app.close());
    await app.listen({ port: 0, host: '127.0.0.1' });
    const address = app.server.address();
    const socket = net.connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1');
    onFileEnd(async () => void socket.destroy());
    socket.write(sent);
    return socket;
  }
  const head = (path: string, type: string, length = 1000) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n{`;

  test('is cut with a 408', async () => {
    const socket = await slow(() => 'done', head('/', 'application/json'));
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('request_timeout');
  });

  test.each([
    ['a large one', 150_000, 10_000_000, { isCut: false }],
    ['one that states an excessive size', 150_000, 100, { isCut: true }],
  ])('gets time in proportion to its size: %s', async (_what, length, limit, { isCut }) => {
    const socket = await slow(() => 'done', head('/', 'application/json', length), { limit });
    const small = await slow(() => 'done', head('/', 'application/json'));
    const ended = text(socket);
    await text(small);
    const first = await Promise.race([ended, new Promise<null>((resolve) => setTimeout(resolve, 100, null))]);
    expect(first !== null).toBe(isCut);
  });

  test('is cut after a response that was sent before the body was complete', async () => {
    const socket = await slow(() => 'done', head('/early', 'application/json'));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('has no deadline if the handler receives a file', async () => {
    const finish = vi.fn<() => string>(() => 'done');
    const socket = await slow(
      () => new Promise((resolve) => setTimeout(() => resolve(finish()), 200)),
      head('/', 'application/octet-stream'),
      { lift: true },
    );
    const answer = await new Promise<string>((resolve) =>
      socket.once('data', (bytes) => resolve(String(bytes))),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(finish).toHaveBeenCalledOnce();
  });
});
