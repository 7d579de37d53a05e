import { rm } from 'node:fs/promises';
import path from 'node:path';
import * as contract from '@bakehouse/contract/assets';
import * as links from '@bakehouse/contract/file-links';
import { beforeAll, describe, expect, test } from 'vitest';
import { type FakeClock, fakeClock } from '../../../../testing/fake-clock.ts';
import { type TestServer, type TestUser, testServer } from '../../../../testing/test-server.ts';

let server: TestServer;
let clock: FakeClock;
let ada: TestUser;
let id: string;

beforeAll(async () => {
  clock = fakeClock();
  server = await testServer({ clock });
  ada = await server.signUp('Ada');
  const body = { dataset_type: 'RAW', title: 'Pictures', user_id: ada.userId } as const;
  id = await server.request(contract.createAsset, { body }, { as: ada });
  await upload('ten ü.txt', '0123456789');
  await upload('loaf.png', 'pretend that this is a picture');
  await upload('page.html', '<script>alert(1)</script>');
  await upload('drawing.svg', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
});

async function upload(name: string, content: string): Promise<string> {
  const form = new FormData();
  form.append('data_file', new Blob([content]), name);
  const response = await fetch(`${server.url}/api/v1/asset/${id}/upload`, {
    method: 'POST',
    headers: { 'x-api-key': ada.apiKey },
    body: form,
  });
  const { file } = (await response.json()) as { file: { sha256: string } };
  return file.sha256;
}

async function linkTo(name: string, disposition?: 'inline'): Promise<string> {
  const query = { path: name, ...(disposition && { disposition }) };
  const { url } = await server.request(links.linkFile, { params: { id }, query }, { as: ada });
  return url;
}

/** Opens a link like a browser, without a key. */
function open(url: string, init?: RequestInit): Promise<Response> {
  return fetch(new URL(url, server.url), init);
}

async function refusal(response: Response): Promise<[number, string]> {
  const { error } = (await response.json()) as { error: { message: string } };
  return [response.status, error.message];
}

describe('a link to a file', () => {
  test('works without a key, with the right type and name', async () => {
    const response = await open(await linkTo('ten ü.txt'));
    expect([response.status, await response.text()]).toEqual([200, '0123456789']);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': "attachment; filename*=UTF-8''ten%20%C3%BC.txt",
      'content-length': '10',
      'x-content-type-options': 'nosniff',
    });
  });

  test('shows a picture inline, as a picture only, and while the link is valid', async () => {
    const url = await linkTo('loaf.png', 'inline');
    clock.advance({ minutes: 20 });
    const { headers } = await open(url);
    expect(headers.get('content-type')).toBe('image/png');
    expect(headers.get('content-disposition')).toBe("inline; filename*=UTF-8''loaf.png");
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; sandbox; frame-ancestors 'none'",
    );
    // Also on pages of other sites.
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    const seconds = Number(
      /^private, max-age=(\d+), immutable$/.exec(headers.get('cache-control') ?? '')?.[1],
    );
    expect(seconds).toBeGreaterThan(30 * 60);
    expect(seconds).toBeLessThanOrEqual(70 * 60);
  });

  test.each(['page.html', 'drawing.svg'])(
    'never shows %s inline, because it may contain scripts',
    async (name) => {
      const query = { path: name, disposition: 'inline' } as const;
      const asked = await server.send(links.linkFile, { params: { id }, query }, { as: ada });
      expect(await refusal(asked)).toEqual([
        400,
        `${name} can be downloaded, but not shown: only pictures, videos and sounds can be shown`,
      ]);
      const { headers } = await open(await linkTo(name));
      expect(headers.get('content-type')).toBe('application/octet-stream');
      expect(headers.get('content-disposition')).toMatch(/^attachment/);
      expect(headers.get('content-security-policy')).toContain('sandbox');
    },
  );

  test('supports ranges, HEAD, and cached copies', async () => {
    const url = await linkTo('ten ü.txt');
    const middle = await open(url, { headers: { range: 'bytes=3-5' } });
    expect([middle.status, await middle.text(), middle.headers.get('content-range')]).toEqual([
      206,
      '345',
      'bytes 3-5/10',
    ]);
    const behind = await open(url, { headers: { range: 'bytes=10-' } });
    expect([behind.status, behind.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    const changed = await open(url, { headers: { range: 'bytes=3-5', 'if-range': '"other"' } });
    expect([changed.status, await changed.text()]).toEqual([200, '0123456789']);
    const etag = middle.headers.get('etag') ?? '';
    const same = await open(url, { headers: { range: 'bytes=3-5', 'if-range': etag } });
    expect(same.status).toBe(206);
    expect((await open(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
    const head = await open(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '10', '']);
  });

  test('is identical for half an hour, so that a browser can use its cached copy', async () => {
    const first = await linkTo('loaf.png', 'inline');
    expect(await linkTo('loaf.png', 'inline')).toBe(first);
    clock.advance({ minutes: 30 });
    expect(await linkTo('loaf.png', 'inline')).not.toBe(first);
  });

  test('expires within 90 minutes', async () => {
    const url = await linkTo('ten ü.txt');
    clock.advance({ minutes: 59 });
    expect((await open(url)).status).toBe(200);
    clock.advance({ minutes: 32 });
    expect(await refusal(await open(url))).toEqual([410, 'This link has expired. Ask for a new one.']);
  });

  test('is rejected after any change', async () => {
    const url = new URL(await linkTo('loaf.png'), server.url);
    const { sha256: other } = (
      await server.request(contract.getAsset, { params: { id } }, { as: ada })
    ).files.find((file) => file.path === 'page.html') ?? { sha256: '' };
    const changed = [
      (one: URL) => one.searchParams.set('disposition', 'inline'),
      (one: URL) => one.searchParams.set('expires', String(Number(one.searchParams.get('expires')) + 1)),
      (one: URL) => one.searchParams.set('signature', 'x'.repeat(43)),
      (one: URL) => one.searchParams.set('signature', ''),
      (one: URL) => one.searchParams.set('user', 'another'),
      (one: URL) => one.searchParams.delete('asset'),
      (one: URL) => (one.pathname = one.pathname.replace('loaf.png', 'loaf.html')),
      (one: URL) => (one.pathname = one.pathname.replace(/[0-9a-f]{64}/, other)),
    ];
    for (const change of changed) {
      const one = new URL(url);
      change(one);
      const [status, message] = await refusal(await fetch(one));
      expect([status, message]).toEqual([
        403,
        'This link was not made by this server, or has been changed. Ask for a new one.',
      ]);
    }
  });

  test('is refused without read access and for a missing file', async () => {
    const bob = await server.signUp('Bob');
    const ask = (as: TestUser, name: string) =>
      server.send(links.linkFile, { params: { id }, query: { path: name } }, { as });
    expect(await refusal(await ask(bob, 'loaf.png'))).toEqual([404, 'Asset not found']);
    expect(await refusal(await ask(ada, 'loaf.jpg'))).toEqual([404, 'There is no file loaf.jpg']);
  });

  test('reports missing bytes with an uncacheable response', async () => {
    const sha256 = await upload('gone.txt', 'soon gone');
    const url = await linkTo('gone.txt');
    const { dataDir } = server.services.config;
    await rm(path.join(dataDir, 'blobs', sha256.slice(0, 2), sha256.slice(2)));
    const response = await open(url);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await refusal(response)).toEqual([404, 'gone.txt was deleted or replaced']);
  });

  test("uses the store's own URL if it has one", async () => {
    const { blobs } = server.services;
    const { presign } = blobs;
    blobs.presign = async (sha256, answer) =>
      `https://files.example/${sha256}?type=${answer.contentType}&as=${answer.contentDisposition}`;
    try {
      expect(await linkTo('loaf.png', 'inline')).toMatch(
        /^https:\/\/files\.example\/[0-9a-f]{64}\?type=image\/png&as=inline; filename\*=UTF-8''loaf\.png$/,
      );
    } finally {
      blobs.presign = presign;
    }
  });
});
