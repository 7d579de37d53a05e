import { setTimeout as pause } from 'node:timers/promises';
import { createApiKey, revokeApiKey } from '@bakehouse/contract/api-keys';
import { beforeAll, expect, test } from 'vitest';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { assetCalls, sha256 } from '../testing/asset-calls.ts';

const server = await testServer();
const { create, upload, download } = assetCalls(server);

let ada: TestUser;
beforeAll(async () => {
  ada = await server.signUp('Ada');
});

let id: string;
beforeAll(async () => {
  id = await create(ada);
  await upload(ada, id, 'ten ü.txt', '0123456789');
});

test('sends the bytes with a name, a length and an ETag', async () => {
  const response = await download(ada, id, 'ten ü.txt');
  expect(response.status).toBe(200);
  expect(await response.text()).toBe('0123456789');
  expect(response.headers.get('content-length')).toBe('10');
  expect(response.headers.get('accept-ranges')).toBe('bytes');
  expect(response.headers.get('etag')).toBe(`"${sha256('0123456789')}"`);
  expect(response.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''ten%20%C3%BC.txt");
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
});

test('honours Range, If-Range and If-None-Match', async () => {
  const middle = await download(ada, id, 'ten ü.txt', { range: 'bytes=3-5' });
  expect([middle.status, await middle.text(), middle.headers.get('content-range')]).toEqual([
    206,
    '345',
    'bytes 3-5/10',
  ]);
  const tail = await download(ada, id, 'ten ü.txt', { range: 'bytes=-2' });
  expect([tail.status, await tail.text()]).toEqual([206, '89']);
  const behind = await download(ada, id, 'ten ü.txt', { range: 'bytes=10-' });
  expect([behind.status, behind.headers.get('content-range')]).toEqual([416, 'bytes */10']);
  const changed = await download(ada, id, 'ten ü.txt', { range: 'bytes=3-5', 'if-range': '"other"' });
  expect([changed.status, await changed.text()]).toEqual([200, '0123456789']);
  const known = await download(ada, id, 'ten ü.txt', { 'if-none-match': `"${sha256('0123456789')}"` });
  expect([known.status, await known.text()]).toEqual([304, '']);
});

test('returns the size for HEAD, without the bytes', async () => {
  const response = await fetch(`${server.url}/api/v1/asset/${id}/files/ten%20%C3%BC.txt`, {
    method: 'HEAD',
    headers: { 'x-api-key': ada.apiKey },
  });
  expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([
    200,
    '10',
    '',
  ]);
});

test('returns 404 for other files', async () => {
  expect((await download(ada, id, 'other.txt')).status).toBe(404);
  expect((await download(ada, id, '../../../etc/passwd')).status).toBe(404);
});

test('aborts a download when its API key is revoked', async () => {
  const made = { params: { userId: ada.userId }, body: { name: 'program' } };
  const { api_key: key, secret } = await server.request(createApiKey, made, { as: ada });
  // Too large for all buffers on the way to the client.
  const size = 64 * 1024 * 1024;
  await upload(ada, id, 'large.bin', new Uint8Array(size));
  const response = await download({ ...ada, apiKey: secret }, id, 'large.bin');
  expect(response.headers.get('content-length')).toBe(String(size));
  await server.request(revokeApiKey, { params: { keyId: key.id } }, { as: ada });
  const reader = response.body?.getReader();
  // Reading the whole file at this speed takes half a minute.
  const readSlowly = async () => {
    while (!(await reader?.read())?.done) await pause(30);
  };
  await expect(readSlowly()).rejects.toThrow('terminated');
});
