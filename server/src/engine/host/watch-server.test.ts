import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { freePort } from '../../testing/ports/free-port.ts';
import { watchServer } from './watch-server.ts';

it('says that nothing can be started while the server does not answer, and asks again every few seconds', async () => {
  const server = createServer(({ url }, response) => {
    response.writeHead(url === '/healthz' ? 200 : 404).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onFileEnd(async () => void server.close());
  let port = await freePort();
  const said: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => said.push(JSON.parse(line).msg) });
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  const trouble = watchServer(async () => `http://127.0.0.1:${port}`, log);

  const away = { isResting: true, sentence: expect.stringContaining('does not reach the server') };
  expect(await trouble()).toMatchObject(away);
  port = (server.address() as AddressInfo).port;
  expect(await trouble()).toMatchObject(away);
  now.mockReturnValue(5_000);
  expect(await trouble()).toBeNull();
  expect(said).toEqual([
    expect.stringContaining('does not answer this machine'),
    expect.stringContaining('answers this machine again'),
  ]);
});
