import { once } from 'node:events';
import { createServer } from 'node:net';

/** Lower than the ephemeral ports. A client could use one of those before the server starts. */
const FIRST = 10_000;
/** Each process has its own hundred ports, as long as there are enough. */
const SHARE = 100;
const SHARES = 220;

let asked = 0;

/** For tests: returns a port on which nothing listens, for a server that starts or restarts later. */
export async function freePort(): Promise<number> {
  const first = FIRST + (process.pid % SHARES) * SHARE;
  for (let tries = 0; tries < SHARE; tries += 1) {
    const port = first + (asked % SHARE);
    asked += 1;
    if (await canListen(port)) return port;
  }
  throw new Error(`No port from ${first} on is free`);
}

async function canListen(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
