import http from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { journeyServer } from '../journey-server.ts';

type Answer = { status: number; headers: http.IncomingHttpHeaders; body: Buffer };

/** Returns the bytes of a response as they were sent, because `fetch` would decompress them. */
function ask(path: string, acceptEncoding: string, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(new URL(path, journeyServer().url), {
      method,
      headers: { 'accept-encoding': acceptEncoding, accept: 'text/html, */*' },
    });
    request.once('error', reject);
    request.once('response', (answer) => {
      buffer(answer).then(
        (body) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }),
        reject,
      );
    });
    request.end();
  });
}

test('scripts and styles are served with brotli and gzip, and cached forever', async () => {
  const page = (await ask('/', 'identity')).body.toString();
  const files = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:js|css))"/g)].map(
    ([, file = '']) => file,
  );
  expect(files.length).toBeGreaterThan(1);
  for (const file of files) {
    const plain = await ask(file, 'identity');
    const small = await ask(file, 'gzip, deflate, br');
    expect(small.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(small.body).equals(plain.body)).toBe(true);
    const best = brotliCompressSync(plain.body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
    });
    expect(best.length / small.body.length, file).toBeGreaterThan(0.97);
    const zipped = await ask(file, 'gzip');
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
    for (const { headers } of [plain, small, zipped]) {
      expect(headers.vary).toMatch(/accept-encoding/i);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    }
  }
});

test('the page is compressed and revalidated, and the icon exists', async () => {
  const { headers, body } = await ask('/dashboard', 'br');
  expect(headers['content-encoding']).toBe('br');
  expect(headers['cache-control']).toBe('no-cache');
  expect(brotliDecompressSync(body).toString()).toContain('<div id="root">');
  expect((await ask('/favicon.ico', 'br', 'HEAD')).status).toBe(200);
});

test('the documentation is available as markdown, and listed for language models', async () => {
  const list = (await ask('/llms.txt', 'identity')).body.toString();
  const [, path = ''] = /\]\((\/docs\/ledger\.md)\)/.exec(list) ?? [];
  expect((await ask(path, 'identity')).body.toString()).toMatch(/^# The ledger\n/);
});
