import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import type { Database } from '../db/database.ts';
import { limitCalls } from './callers/rate-limits.ts';
import { sendError } from './send-error.ts';
import { serveWebApp } from './web-app.ts';

const script = 'export const dough = 1;\n'.repeat(100);
const page = `<!doctype html><title>Bakehouse</title>${'<p>flour</p>'.repeat(50)}`;
const dist = await temporaryFolder();
await mkdir(path.join(dist, 'assets'));
for (const [name, text] of [
  ['assets/app-a1b2c3.js', script],
  ['index.html', page],
] as const) {
  await writeFile(path.join(dist, name), text);
  await writeFile(path.join(dist, `${name}.br`), brotliCompressSync(text));
  await writeFile(path.join(dist, `${name}.gz`), gzipSync(text));
}
await writeFile(path.join(dist, 'favicon.ico'), 'icon');
await writeFile(path.join(dist, '.sources'), 'secret');

const app = Fastify();
app.setErrorHandler(sendError);
app.addHook('onRequest', async (request) => {
  request.caller = { kind: 'nobody' };
});
const config = { rateLimits: true, rateLimitPerMinute: 2 };
await limitCalls(app, { config, db: {} as Database, webProcesses: () => 1 });
await serveWebApp(app, dist);
onFileEnd(() => app.close());

function get(url: string, headers: Record<string, string> = {}) {
  return app.inject({ url, headers });
}

test.each([
  ['br, gzip', 'br', brotliCompressSync(script)],
  ['gzip;q=1, br;q=0.5', 'gzip', gzipSync(script)],
  ['br;q=0, gzip', 'gzip', gzipSync(script)],
  ['identity', undefined, Buffer.from(script)],
])('a client that accepts %s gets the precompressed file', async (accepted, encoding, bytes) => {
  const answer = await get('/assets/app-a1b2c3.js', { 'accept-encoding': accepted });
  expect(answer.headers['content-encoding']).toBe(encoding);
  expect(answer.rawPayload.equals(bytes)).toBe(true);
  expect(answer.headers['content-type']).toMatch(/javascript; charset=utf-8$/);
  expect(answer.headers['content-length']).toBe(String(bytes.length));
  expect(answer.headers.vary).toMatch(/accept-encoding/i);
  expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
});

test('each encoding has its own tag, and cached files are not sent again', async () => {
  const tags = new Set<string>();
  for (const encoding of ['br', 'gzip', 'identity']) {
    const headers = { 'accept-encoding': encoding };
    const { etag = '' } = (await get('/assets/app-a1b2c3.js', headers)).headers;
    tags.add(etag);
    const again = await get('/assets/app-a1b2c3.js', { ...headers, 'if-none-match': etag });
    expect(again.statusCode).toBe(304);
    expect(again.headers.vary).toMatch(/accept-encoding/i);
  }
  expect(tags.size).toBe(3);
});

test('any page is the single page, revalidated each time and also compressed', async () => {
  for (const url of ['/', '/dataset', '/runs/7?tab=log', '/index.html']) {
    const answer = await get(url, { 'accept-encoding': 'br', accept: 'text/html' });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-encoding']).toBe('br');
    expect(answer.headers['cache-control']).toBe('no-cache');
    expect(answer.headers['content-type']).toMatch(/^text\/html/);
  }
});

test('missing and private files are not found', async () => {
  expect((await get('/assets/%2e%2e/%2e%2e/secret.js')).statusCode).toBe(404);
  for (const url of ['/assets/old-000.js', '/api/v1/nothing', '/v1//models', '/v1/x%2F..%2Fmodels'])
    expect((await get(url)).json()).toMatchObject({
      error: { code: 'not_found', message: expect.stringContaining(`There is no GET ${url}`) },
    });
  expect((await get('/.sources')).payload).not.toContain('secret');
  expect((await app.inject({ method: 'POST', url: '/dataset' })).statusCode).toBe(404);
});

test('does not count files against any limit', async () => {
  for (let time = 0; time < 10; time += 1) {
    expect((await get('/assets/app-a1b2c3.js')).statusCode).toBe(200);
    expect((await get('/dashboard', { accept: 'text/html' })).statusCode).toBe(200);
  }
});

test('serves the icon that browsers request from every site', async () => {
  expect((await app.inject({ method: 'HEAD', url: '/favicon.ico' })).statusCode).toBe(200);
});
