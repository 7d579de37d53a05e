import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../root.ts';

export type SeparateServer = {
  url: string;
  pid: number;
  dataDir: string;
  /** Returns the URL of the database, for direct access. */
  databaseUrl: () => Promise<string>;
  stop: () => Promise<void>;
};

/**
 * Starts the real server in a separate process, on a free port, with this machine's Python environment. Its
 * data folder is empty at first, and `stop` deletes it. Its warnings go to our terminal.
 */
export async function startSeparateServer(settings: Record<string, string> = {}): Promise<SeparateServer> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'bakehouse-own-'));
  // If this process is root, the embedded PostgreSQL runs as another user, which must be able to enter the
  // folder.
  await chmod(dataDir, 0o755);
  // Pass the Node flags of ./bakehouse on.
  const server = spawn(process.execPath, [...process.execArgv, 'server/src/main.ts'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      DATABASE_URL: '',
      BAKEHOUSE_PORT: '0',
      BAKEHOUSE_PUBLIC_URL: '',
      BAKEHOUSE_DATA_DIR: dataDir,
      BAKEHOUSE_RATE_LIMITS: 'false',
      BAKEHOUSE_LOG_LEVEL: 'warn',
      BAKEHOUSE_LOG_FORMAT: 'text',
      ...settings,
    },
  });
  const ended = new Promise<void>((resolve) => server.once('close', () => resolve()));
  const stop = async () => {
    server.kill('SIGTERM');
    await ended;
    await rm(dataDir, { recursive: true, force: true });
  };
  const ready = new Promise<string>((resolve, reject) => {
    createInterface({ input: server.stdout }).on('line', (line) => {
      const address = /^Bakehouse is ready at (\S+)/.exec(line)?.[1];
      if (address) resolve(address);
      else console.error(`server: ${line}`);
    });
    void ended.then(() => reject(new Error('The server exited; see its output above.')));
  });
  const url = await ready.catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const databaseUrl = async () => {
    const { startEmbeddedPostgres } = await import('../../server/src/platform/postgres/embedded-postgres.ts');
    return (await startEmbeddedPostgres({ dir: path.join(dataDir, 'postgres') })).url;
  };
  return { url, pid: server.pid ?? 0, dataDir, databaseUrl, stop };
}
