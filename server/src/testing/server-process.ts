import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { onFileEnd } from './on-file-end.ts';
import { freePort } from './ports/free-port.ts';
import { temporaryFolder } from './temporary-folder.ts';

/**
 * Starts a server in its own process (kill-nine-server.ts), with its own data folder and this database. It is
 * killed when the test file ends.
 */
export async function serverProcess(
  databaseUrl: string,
  services: string[],
  settings: Record<string, string> = {},
) {
  const dataDir = await temporaryFolder();
  const port = await freePort();
  let child: ChildProcess | undefined;
  /** Resolves with the output once the server is ready or has ended. */
  const start = async () => {
    const program = fileURLToPath(import.meta.resolve('./kill-nine-server.ts'));
    child = spawn(process.execPath, [program, ...services], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        HOME: dataDir,
        DATABASE_URL: databaseUrl,
        BAKEHOUSE_DATA_DIR: dataDir,
        BAKEHOUSE_CACHE_DIR: path.join(dataDir, 'cache'),
        BAKEHOUSE_PORT: String(port),
        BAKEHOUSE_PREPARE: 'false',
        BAKEHOUSE_RATE_LIMITS: 'false',
        BAKEHOUSE_CPU_SLOTS: '2',
        BAKEHOUSE_LOG_LEVEL: 'silent',
        ...settings,
      },
    });
    let said = '';
    child.stderr?.on('data', (chunk) => {
      said += chunk;
    });
    await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), once(child, 'exit')]);
    return said;
  };
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  onFileEnd(kill);
  return {
    url: `http://127.0.0.1:${port}`,
    start,
    kill,
    signal: (name: NodeJS.Signals) => child?.kill(name),
    id: async () => (await readFile(path.join(dataDir, 'machine'), 'utf8')).trim(),
  };
}
