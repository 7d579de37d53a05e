import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onFileEnd } from './on-file-end.ts';
import type { TestServer } from './test-server.ts';

/**
 * For tests: starts a process that generates for this server's users until it is killed. `at` sets its clock.
 */
export async function startGenerating(
  { services, databaseUrl }: TestServer,
  at?: Date,
): Promise<ChildProcess> {
  const { dataDir } = services.config;
  const program = fileURLToPath(import.meta.resolve('./generating-process.ts'));
  const child = spawn(process.execPath, [program, ...(at ? [at.toISOString()] : [])], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: dataDir,
      DATABASE_URL: databaseUrl,
      BAKEHOUSE_DATA_DIR: dataDir,
      BAKEHOUSE_CACHE_DIR: `${dataDir}/cache`,
      BAKEHOUSE_SECRET: 'only-for-tests-only-for-tests-only',
      BAKEHOUSE_DRIVER: 'fake',
      BAKEHOUSE_PREPARE: 'false',
      BAKEHOUSE_LOG_LEVEL: 'silent',
    },
  });
  onFileEnd(() => killGenerating(child));
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  return child;
}

/** Kills the process immediately. Does nothing if it has ended. */
export async function killGenerating(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
