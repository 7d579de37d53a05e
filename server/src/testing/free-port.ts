import { once } from 'node:events';
import { createServer } from 'node:net';

/** For tests: a port that nobody listens on just now, for a server that is to come back on it. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? address.port : 0;
}
