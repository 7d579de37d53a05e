import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type SeparateServer, startSeparateServer } from '../scripts/client/separate-server.ts';
import { freePort } from '../server/src/testing/ports/free-port.ts';

export type RestartableServer = {
  url: string;
  start: () => Promise<void>;
  stop: () => Promise<void>;
  /** Kills the server like `kill -9`. Its child processes continue. */
  kill: () => Promise<void>;
  remove: () => Promise<void>;
};

/** Starts a server with these settings. It can be stopped and started again with its data. */
export async function restartable(more: Record<string, string> = {}): Promise<RestartableServer> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'bakehouse-away-'));
  await chmod(dataDir, 0o755);
  const port = await freePort();
  const settings = { ...more, BAKEHOUSE_PORT: String(port), BAKEHOUSE_DATA_DIR: dataDir };
  let server: SeparateServer | null = await startSeparateServer(settings);
  const stop = async () => {
    await server?.stop();
    server = null;
  };
  return {
    url: server.url,
    start: async () => {
      server = await startSeparateServer(settings);
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
