import { chmod, mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type OwnServer, startOwnServer } from '../scripts/client/own-server.ts';

export type RestartableServer = {
  url: string;
  start: () => Promise<void>;
  stop: () => Promise<void>;
  /** As `kill -9` ends it: it does nothing more, and what it had started goes on. */
  kill: () => Promise<void>;
  remove: () => Promise<void>;
};

/** A server that can be ended and started again where it was, with what it had. */
export async function restartable(): Promise<RestartableServer> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'bakehouse-away-'));
  await chmod(dataDir, 0o755);
  const port = await freePort();
  const settings = { BAKEHOUSE_PORT: String(port), BAKEHOUSE_DATA_DIR: dataDir };
  let server: OwnServer | null = await startOwnServer(settings);
  const stop = async () => {
    await server?.stop();
    server = null;
  };
  return {
    url: server.url,
    start: async () => {
      server = await startOwnServer(settings);
    },
    stop,
    kill: async () => {
      if (server) process.kill(server.pid, 'SIGKILL');
      await stop();
    },
    remove: async () => {
      await stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = net.createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}
