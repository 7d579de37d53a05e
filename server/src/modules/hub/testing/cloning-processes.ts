import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import type { TestServer } from '../../../testing/test-server.ts';

/** Starts a process that runs this server's clones until it is killed. */
export async function startCloningProcess({ services, databaseUrl }: TestServer): Promise<ChildProcess> {
  const { dataDir } = services.config;
  const program = fileURLToPath(import.meta.resolve('../../../testing/cloning-process.ts'));
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: dataDir,
      DATABASE_URL: databaseUrl,
      BAKEHOUSE_DATA_DIR: dataDir,
      BAKEHOUSE_CACHE_DIR: `${dataDir}/cache`,
      BAKEHOUSE_SECRET: 'only-for-tests-only-for-tests-only',
      BAKEHOUSE_SERVICE_URLS: `huggingface=${services.config.hubUrl}`,
      BAKEHOUSE_DRIVER: 'fake',
      BAKEHOUSE_PREPARE: 'false',
      BAKEHOUSE_LOG_LEVEL: 'silent',
    },
  });
  onFileEnd(() => killProcess(child));
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  return child;
}

/** Kills the process with SIGKILL. */
export async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
