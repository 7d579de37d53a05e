import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { onFileEnd } from '../on-file-end.ts';
import { freePort } from './free-port.ts';

test('a free port is not an ephemeral port, is returned only once, and can be listened on', async () => {
  const first = await freePort();
  expect(first).toBeLessThan(32_000);
  const next = first + 1;
  const server = createServer().listen(next, '127.0.0.1');
  await once(server, 'listening');
  onFileEnd(async () => void server.close());
  const second = await freePort();
  expect([first, next]).not.toContain(second);
  expect(second).toBeLessThan(32_000);
});
