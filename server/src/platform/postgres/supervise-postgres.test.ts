import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rename, symlink } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { discardEmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
import { supervisePostgres } from './supervise-postgres.ts';

async function postmasterOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ dir: string }>("select current_setting('data_directory') as dir");
    const lockFile = await readFile(path.join(rows[0]?.dir ?? '', 'postmaster.pid'), 'utf8');
    return Number(lockFile.split('\n')[0]);
  } finally {
    await client.end();
  }
}

// On other systems, init reaps every zombie.
test.runIf(process.platform === 'linux')(
  'an adopted server that was killed and never reaped is replaced',
  async () => {
    const dir = path.join(await temporaryFolder(), 'postgres');
    const starter = path.join(import.meta.dirname, 'embedded-postgres.ts');
    const script = `
      import { startEmbeddedPostgres } from ${JSON.stringify(starter)};
      await startEmbeddedPostgres({ dir: ${JSON.stringify(dir)}, settings: { fsync: 'off' } });
      console.log('started');
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onFileEnd(async () => void parent.kill('SIGKILL'));
    onFileEnd(() => discardEmbeddedPostgres(dir));
    await once(parent.stdout, 'data');
    // A process that is stopped does not reap its children.
    parent.kill('SIGSTOP');

    const server = await supervisePostgres(dir, pino({ level: 'silent' }));
    onFileEnd(server.stop);
    const first = await postmasterOf(server.url);
    process.kill(first, 'SIGKILL');
    await vi.waitFor(async () => expect(await readFile(`/proc/${first}/stat`, 'utf8')).toMatch(/\) Z /));
    await vi.waitFor(async () => expect(await postmasterOf(server.url)).not.toBe(first), {
      timeout: 20_000,
      interval: 200,
    });
  },
);

test("logs the database's folder, logs a failing start only once, retries it, and saves the log of a crashed server", async () => {
  const place = path.join(await temporaryFolder(), 'elsewhere');
  const first = await startEmbeddedPostgres({ dir: place, settings: { fsync: 'off' } });
  await first.stop();
  const dir = path.join(await temporaryFolder(), 'postgres');
  await symlink(place, dir);
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line).msg) });
  const server = await supervisePostgres(dir, log);
  onFileEnd(() => discardEmbeddedPostgres(dir));
  onFileEnd(server.stop);
  expect(lines).toEqual([`database folder: ${place}, linked from ${dir}`]);
  const postmaster = await postmasterOf(server.url);
  await rename(path.join(dir, 'global'), path.join(dir, 'away'));
  process.kill(postmaster, 'SIGKILL');

  const failing = () => lines.filter((line) => line === 'failed to start postgres').length;
  await vi.waitFor(() => expect(failing()).toBe(1), { interval: 200 });
  expect(await readFile(path.join(dir, 'server.log.crash'), 'utf8')).toContain('ready to accept connections');

  await rename(path.join(dir, 'away'), path.join(dir, 'global'));
  await vi.waitFor(() => expect(lines.at(-1)).toBe('postgres restarted'), { interval: 200 });
  expect(failing()).toBe(1);
}, 300_000);
