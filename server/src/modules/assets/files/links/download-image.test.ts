import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createAsset } from '@bakehouse/contract/assets';
import { downloadImage, linkFile } from '@bakehouse/contract/file-links';
import { expect, test } from 'vitest';
import { onFileEnd } from '../../../../testing/on-file-end.ts';
import { testServer } from '../../../../testing/test-server.ts';
import { fetchImage } from './download-image.ts';

const png = Buffer.from('89504e470d0a1a0a', 'hex');

/** Starts a fake S3 server. Servers at other addresses must never get a request. */
async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onFileEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const asked: string[] = [];
const elsewhere = await listen((request, response) => {
  asked.push(request.url ?? '');
  response.end('secret');
});
const s3 = await listen((request, response) => {
  const [, kind = '', left = ''] = /^\/bucket\/(\w+)(?:\/(\d+))?/.exec(request.url ?? '') ?? [];
  const send = (status: number, headers: Record<string, string>, body: string | Buffer = '') =>
    response.writeHead(status, headers).end(body);
  if (kind === 'picture') return send(200, { 'content-type': 'image/png' }, png);
  if (kind === 'page') return send(200, { 'content-type': 'text/html' }, '<script>');
  if (kind === 'drawing') return send(200, { 'content-type': 'image/svg+xml' }, '<svg/>');
  if (kind === 'empty') return send(200, { 'content-type': 'image/png', 'content-length': '0' });
  if (kind === 'large') {
    response.writeHead(200, { 'content-type': 'image/png', 'content-length': `${51 * 1024 * 1024}` });
    return response.flushHeaders();
  }
  if (kind === 'silent') return response;
  if (kind === 'slow' || kind === 'stalling' || kind === 'endless') {
    response.writeHead(200, { 'content-type': 'image/png' }).write(png);
    if (kind === 'slow') drip(response, 10);
    if (kind === 'endless') response.write(Buffer.alloc(20 * 1024 * 1024));
    return response;
  }
  if (kind === 'hops')
    return send(302, { location: left === '0' ? '/bucket/picture' : `/bucket/hops/${Number(left) - 1}` });
  if (kind === 'away') return send(302, { location: `${elsewhere}/bucket/picture` });
  if (kind === 'up') return send(302, { location: '/other/picture' });
  return send(kind === 'denied' ? 403 : kind === 'broken' ? 500 : 404, {});
});
/** Sends `pieces` pieces, a quarter of a second apart, and then ends. */
function drip(response: ServerResponse, pieces: number): void {
  if (pieces === 0) return void response.end();
  setTimeout(() => response.write(png, () => drip(response, pieces - 1)), 250);
}
const server = await testServer({ config: { s3Urls: [new URL(`${s3}/bucket`)] } });
const ada = await server.signUp('Ada');

const download = (url: string, filename?: string) => server.send(downloadImage, { query: { url, filename } });
const refusal = async (url: string) => {
  const answer = await download(url);
  const { error } = (await answer.json()) as { error: { message: string } };
  return [answer.status, error.message];
};

async function linkTo(name: string): Promise<string> {
  const as = ada;
  const body = { dataset_type: 'RAW', title: name, user_id: as.userId } as const;
  const id = await server.request(createAsset, { body }, { as });
  const form = new FormData();
  form.set('data_file', new Blob([png]), name);
  await fetch(`${server.url}/api/v1/asset/${id}/upload`, {
    method: 'POST',
    headers: { 'x-api-key': as.apiKey },
    body: form,
  });
  return (await server.request(linkFile, { params: { id }, query: { path: name } }, { as })).url;
}

test('downloads a picture of this server by its link, with or without the origin', async () => {
  const link = await linkTo('loaf of bread.png');
  for (const url of [link, `${server.url}${link}`]) {
    const answer = await download(url, 'toast.png');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(answer.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''toast.png");
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(png);
  }
  const unnamed = await download(link);
  expect(unnamed.headers.get('content-disposition')).toContain('loaf%20of%20bread.png');
});

test('rejects a link of this server that was changed or is not a picture', async () => {
  const link = await linkTo('rows.csv');
  expect(await refusal(link)).toEqual([400, 'Invalid image source']);
  expect((await refusal((await linkTo('a.png')).replace('a.png', 'b.png')))[0]).toBe(403);
  expect(await refusal('/api/v1/users/me')).toEqual([400, 'Only S3 URLs are supported for download']);
});

test('downloads a picture from the configured S3, over three redirects at most', async () => {
  for (const path of ['picture', 'hops/0', 'hops/2']) {
    const answer = await download(`${s3}/bucket/${path}`, 'toast.png');
    expect(answer.status, path).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(png);
  }
  expect(await refusal(`${s3}/bucket/hops/3`)).toEqual([503, 'Could not access image file']);
});

test('never requests an address outside of the bucket, not even after a redirect', async () => {
  const others = [
    `${elsewhere}/bucket/picture`,
    `${s3}/other/picture`,
    `${s3}/bucket-of-others/picture`,
    `${s3}/bucket/../other/picture`,
    `${s3}/bucket/away`,
    `${s3}/bucket/up`,
    s3.replace('http://', 'http://user:password@'),
    'http://169.254.169.254/latest/meta-data/',
    'file:///etc/passwd',
    'data:image/png;base64,AAAA',
    'http://[',
  ];
  for (const url of others)
    expect(await refusal(url), url).toEqual([400, 'Only S3 URLs are supported for download']);
  expect(asked).toEqual([]);
});

test.each([
  ['nothing', 404, 'Image file not found'],
  ['denied', 403, 'Access denied to image file'],
  ['broken', 503, 'Server error during download'],
  ['empty', 503, 'Image file is empty or corrupted'],
  ['page', 400, 'Invalid image source'],
  ['drawing', 400, 'Invalid image source'],
  ['large', 413, 'The picture is larger than 50 MB'],
])('%s: %i %s', async (path, status, message) => {
  expect(await refusal(`${s3}/bucket/${path}`)).toEqual([status, message]);
});

test('limits the time without data, not the time of the whole download', async () => {
  const fetched = (kind: string, limits: { headersMs: number; stallMs: number }) =>
    fetchImage(new URL(`${s3}/bucket/${kind}`), [new URL(`${s3}/bucket`)], limits);
  // The whole picture takes longer than `stallMs`, but each piece arrives in time.
  const { body } = await fetched('slow', { headersMs: 2_000, stallMs: 2_000 });
  expect((await buffer(body)).length).toBe(11 * png.length);
  const stalling = await fetched('stalling', { headersMs: 30_000, stallMs: 300 });
  await expect(buffer(stalling.body)).rejects.toThrow('picture download stalled');
  // The client does not read the response.
  const endless = await fetched('endless', { headersMs: 30_000, stallMs: 300 });
  const [error] = await once(endless.body, 'error');
  expect(error).toMatchObject({ message: 'picture download stalled' });
  await expect(fetched('silent', { headersMs: 300, stallMs: 30_000 })).rejects.toMatchObject({
    publicMessage: 'Could not access image file',
  });
});

test('rejects a missing address', async () => {
  const answer = await fetch(`${server.url}/api/download-image`);
  expect(await answer.json()).toMatchObject({ error: { message: 'Image URL not provided', param: 'url' } });
});
