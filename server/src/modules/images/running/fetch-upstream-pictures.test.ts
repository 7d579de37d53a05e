import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { pictureFiles } from '../testing/picture-files.ts';
import { fetchUpstreamPictures } from './fetch-upstream-pictures.ts';

const { signal } = new AbortController();

/** A service that has generated so many pictures. */
async function serve(count: number, answer: RequestListener) {
  const server = createServer(answer);
  onFileEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const serviceUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const addresses = Array.from({ length: count }, (_, at) => `${serviceUrl}/${at}.png`);
  return { addresses, title: 'fal', serviceUrl };
}

test('a picture that nobody wants any more is not fetched to its end, nor again', async () => {
  let asked = 0;
  const ended = new AbortController();
  const reason = new Error('cancelled');
  const generated = await serve(1, (_request, response) => {
    asked += 1;
    response.writeHead(200).write('a pic');
    setTimeout(() => ended.abort(reason), 100);
  });
  await expect(fetchUpstreamPictures(generated, { signal: ended.signal, waitsForAll: true })).rejects.toBe(
    reason,
  );
  expect(asked).toBe(1);
});

test('several are fetched two at a time, each within two minutes', async ({ onTestFinished }) => {
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
  expect(await fetchUpstreamPictures(generated, { signal, waitsForAll: true })).toHaveLength(4);
  expect(most).toBe(2);
  expect(limits.mock.calls).toEqual(Array.from({ length: 4 }, () => [120_000]));
});

test('a picture that cannot be reached is fetched again later, and one whose address is dead is not', async () => {
  const fetchFrom = async (answer: RequestListener) =>
    fetchUpstreamPictures(await serve(1, answer), { signal, waitsForAll: false });
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

test('of several that are paid for, those out of reach are waited for, and at last given up', async () => {
  const generated = await serve(3, ({ url }, response) => {
    if (url === '/0.png') response.end(pictureFiles.png);
    else response.writeHead(url === '/1.png' ? 503 : 403).end();
  });
  const fetched = (waitsForAll: boolean) => fetchUpstreamPictures(generated, { signal, waitsForAll });
  await expect(fetched(true)).rejects.toMatchObject({ retryAfterMs: 20_000 });
  expect(await fetched(false)).toHaveLength(1);
});
