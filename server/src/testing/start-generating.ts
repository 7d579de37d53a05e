import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onFileEnd } from './on-file-end.ts';
import type { TestServer } from './test-server.ts';

/** For tests: a process that generates what this server's users ask for, until it is killed; its clock stands at `at`, if that is said. */
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

/** Kills it at once; one that has ended stays so. */
export async function killGenerating(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
