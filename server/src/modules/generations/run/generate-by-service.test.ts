import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { BadPicture } from '../../media/inspect-picture.ts';
import { mediumOf } from '../media-table.ts';
import { pictureFiles } from '../testing/picture-files.ts';
import { fetchOutputs } from './generate-by-service.ts';

const { signal } = new AbortController();
/** Stores nothing: returns only the length of each output. */
const asked = {
  userId: 'ada',
  medium: mediumOf('flux'),
  keep: async (bytes: Readable) => (await buffer(bytes)).length,
};

const full = new Error('no space left');
const fullDisk = () => new Writable({ write: (_bytes, _encoding, done) => done(full) });

/** A service with this many generated pictures. */
async function serve(count: number, answer: RequestListener) {
  const server = createServer(answer);
  onFileEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const serviceUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const addresses = Array.from({ length: count }, (_, at) => `${serviceUrl}/${at}.png`);
  return { addresses, title: 'fal', serviceUrl, headers: {} };
}

test('stops fetching a picture that was cancelled and does not retry', async () => {
  let calls = 0;
  const ended = new AbortController();
  const reason = new Error('cancelled');
  const generated = await serve(1, (_request, response) => {
    calls += 1;
    response.writeHead(200).write('a pic');
    setTimeout(() => ended.abort(reason), 100);
  });
  await expect(fetchOutputs(generated, { ...asked, signal: ended.signal, waitsForAll: true })).rejects.toBe(
    reason,
  );
  expect(calls).toBe(1);
});

test('fetches two pictures per user at a time, each within two minutes', async ({ onTestFinished }) => {
  const limits = vi.spyOn(AbortSignal, 'timeout');
  onTestFinished(() => limits.mockRestore());
  let open = 0;
  let most = 0;
  const generated = await serve(4, (_request, response) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      response.end(pictureFiles.png);
    }, 50);
  });
  expect(await fetchOutputs(generated, { ...asked, signal, waitsForAll: true })).toHaveLength(4);
  expect(most).toBe(2);
  expect(limits.mock.calls).toEqual(Array.from({ length: 4 }, () => [120_000]));
});

test('stores at most eight outputs per process concurrently, for all users together', async () => {
  const generated = await serve(4, (_request, response) => void response.end(pictureFiles.png));
  let held = 0;
  let most = 0;
  const stored = new AbortController();
  const keep = async () => {
    held += 1;
    most = Math.max(most, held);
    if (!stored.signal.aborted) await once(stored.signal, 'abort');
    held -= 1;
    return {};
  };
  const users = ['ada', 'bob', 'cai', 'dan', 'eve'];
  const all = users.map((userId) =>
    fetchOutputs(generated, { ...asked, userId, keep, signal, waitsForAll: true }),
  );
  await vi.waitFor(() => expect(held).toBe(8));
  stored.abort();
  expect((await Promise.all(all)).flat()).toHaveLength(20);
  expect(most).toBe(8);
});

test.each([
  { when: 'before', keep: () => Promise.reject(full) },
  { when: 'during', keep: (bytes: Readable) => pipeline(bytes, fullDisk()) },
])(
  'a storage failure $when the download is not blamed on the service and ends the attempt',
  async ({ keep }) => {
    let calls = 0;
    const generated = await serve(1, (_request, response) => {
      calls += 1;
      // More than the buffers of the stream hold.
      response.end(Buffer.alloc(2_000_000));
    });
    const fetched = fetchOutputs(generated, { ...asked, keep, signal, waitsForAll: true });
    await expect(fetched).rejects.toBe(full);
    expect(calls).toBeLessThanOrEqual(1);
  },
);

test('retries the download if the service is temporarily unreachable, but not if the address is dead', async () => {
  const fetchFrom = async (answer: RequestListener) =>
    fetchOutputs(await serve(1, answer), { ...asked, signal, waitsForAll: false });
  const status =
    (code: number): RequestListener =>
    (_request, response) =>
      void response.writeHead(code).end();
  for (const away of [
    (_: unknown, response) => void response.destroy(),
    status(429),
    status(503),
  ] satisfies RequestListener[])
    await expect(fetchFrom(away)).rejects.toMatchObject({ retryAfterMs: 20_000 });
  await expect(fetchFrom(status(403))).rejects.toMatchObject({ retryAfterMs: null });
});

test('waits for unreachable outputs that are paid for, and finally completes without them', async () => {
  const generated = await serve(3, ({ url }, response) => {
    if (url === '/0.png') response.end(pictureFiles.png);
    else response.writeHead(url === '/1.png' ? 503 : 403).end();
  });
  const fetched = (waitsForAll: boolean) => fetchOutputs(generated, { ...asked, signal, waitsForAll });
  await expect(fetched(true)).rejects.toMatchObject({ retryAfterMs: 20_000 });
  expect(await fetched(false)).toHaveLength(1);
});

test('rejects an incomplete picture', async () => {
  const generated = await serve(1, (_request, response) => void response.end('no picture'));
  const keep = () => Promise.reject(new BadPicture('The picture is damaged or incomplete'));
  await expect(fetchOutputs(generated, { ...asked, keep, signal, waitsForAll: true })).rejects.toThrow(
    'fal generated it, but the file it returned is not a complete picture',
  );
});

test('retries once if a download breaks off', async () => {
  let calls = 0;
  const generated = await serve(1, (_request, response) => {
    calls += 1;
    if (calls > 1) return void response.end(pictureFiles.png);
    response
      .writeHead(200, { 'content-length': pictureFiles.png.length })
      .write(pictureFiles.png.subarray(0, 20));
    setTimeout(() => response.destroy(), 20);
  });
  expect(await fetchOutputs(generated, { ...asked, signal, waitsForAll: true })).toEqual([
    pictureFiles.png.length,
  ]);
  expect(calls).toBe(2);
});
