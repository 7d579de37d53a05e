import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { fetchDrawn } from './fetch-drawn.ts';

test('a picture that nobody wants any more is not fetched to its end, nor again', async () => {
  let asked = 0;
  const ended = new AbortController();
  const reason = new Error('cancelled');
  const server = createServer((_request, response) => {
    asked += 1;
    response.writeHead(200).write('a pic');
    setTimeout(() => ended.abort(reason), 100);
  });
  onFileEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const serviceUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const drawn = { addresses: [`${serviceUrl}/1.png`], title: 'fal', serviceUrl };
  await expect(fetchDrawn(drawn, ended.signal)).rejects.toBe(reason);
  expect(asked).toBe(1);
});
