import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import type { Readable } from 'node:stream';
import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { discardEmbeddedPostgres, startEmbeddedPostgres } from './platform/postgres/embedded-postgres.ts';
import { runProgram } from './platform/processes/run-program.ts';
import { onFileEnd } from './testing/on-file-end.ts';
import { isSoak } from './testing/soak.ts';
import { databaseFolder, temporaryFolder } from './testing/temporary-folder.ts';

const dataDir = await temporaryFolder(await databaseFolder());
onFileEnd(() => discardEmbeddedPostgres(path.join(dataDir, 'postgres')));

/** Starts the real program in a separate process, and records its output and how it ends. */
function start(settings: Record<string, string> = {}, args: string[] = []) {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'main.ts'), ...args], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: dataDir,
      BAKEHOUSE_DATA_DIR: dataDir,
      BAKEHOUSE_PORT: '0',
      BAKEHOUSE_DRIVER: 'fake',
      BAKEHOUSE_PREPARE: 'false',
      BAKEHOUSE_LOG_LEVEL: 'warn',
      BAKEHOUSE_LOG_FORMAT: 'text',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  }) as ChildProcess & { stdout: Readable; stderr: Readable };
  onFileEnd(async () => void child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = once(child, 'close').then(([code]) => ({ code, stdout, stderr }));
  return { child, ended };
}

async function urlOf(child: ChildProcess): Promise<string> {
  for await (const chunk of child.stdout ?? []) {
    const url = /Bakehouse is ready at (\S+)/.exec(String(chunk))?.[1];
    if (url) return url;
  }
  throw new Error('the server ended before it was ready');
}

describe('the server program', () => {
  test('starts from an empty folder, protects its secret and workloads, ends with its supervisor, and stops its database on SIGTERM', async () => {
    const first = start();
    const url = await urlOf(first.child);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await stat(path.join(dataDir, 'secret'))).mode & 0o777).toBe(0o600);

    const { code, stderr } = await start().ended;
    expect(code).toBe(1);
    expect(stderr).toBe(
      'bakehouse: Another Bakehouse server already runs the workloads of this data folder: use that server, or stop it first\n',
    );
    expect((await fetch(`${url}/readyz`)).status).toBe(200);

    // A second process of the same server, with only the web role.
    const web = start({}, ['--services=web']);
    expect((await fetch(`${await urlOf(web.child)}/readyz`)).status).toBe(200);
    const webEnded = once(web.child, 'exit');
    web.child.disconnect();
    first.child.kill('SIGTERM');
    expect(await webEnded).toEqual([0, null]);
    expect((await first.ended).code).toBe(0);
    await expect(stat(path.join(dataDir, 'postgres/postmaster.pid'))).rejects.toThrow('ENOENT');
  });

  test('resumes after SIGKILL with its data, secret and database, and restarts the database if it is killed', async () => {
    const secret = await readFile(path.join(dataDir, 'secret'), 'utf8');
    const killed = start();
    await urlOf(killed.child);
    killed.child.kill('SIGKILL');
    await killed.ended;

    const next = start();
    const url = await urlOf(next.child);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await readFile(path.join(dataDir, 'secret'), 'utf8')).toBe(secret);

    // The database is restarted, even if the log has no reader any more.
    const postmaster = async () =>
      (await readFile(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0];
    const postgresKilled = await postmaster();
    process.kill(Number(postgresKilled), 'SIGKILL');
    // On some machines, the outage is too short to be observed.
    await vi.waitFor(async () => expect(await postmaster()).not.toBe(postgresKilled), { timeout: 20_000 });
    await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), {
      timeout: 20_000,
    });
    next.child.kill('SIGINT');
    expect((await next.ended).code).toBe(0);
  });

  // In the gate, scripts/backup.test.ts covers restoring a backup.
  test.runIf(isSoak)(
    'resumes from a backup of its data folder, made as described in docs/operations.md',
    async () => {
      const home = await temporaryFolder();
      const archive = path.join(home, 'backup.tgz');
      await runProgram('tar', ['-chzf', archive, '-C', dataDir, '.']);
      const restored = path.join(home, 'data');
      await mkdir(restored);
      await runProgram('tar', ['-xpzf', archive, '-C', restored]);
      onFileEnd(() => discardEmbeddedPostgres(path.join(restored, 'postgres')));

      const { child, ended } = start({ BAKEHOUSE_DATA_DIR: restored });
      const url = await urlOf(child);
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      expect(await readFile(path.join(restored, 'secret'))).toEqual(
        await readFile(path.join(dataDir, 'secret')),
      );
      child.kill('SIGTERM');
      expect((await ended).code).toBe(0);
    },
  );

  test('prints one sentence when it cannot start', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = String(typeof address === 'object' ? address?.port : '');
    const cases: { settings?: Record<string, string>; args?: string[]; says: string | RegExp }[] = [
      {
        settings: { BAKEHOUSE_PORT: port },
        says: `bakehouse: Port ${port} is already in use: choose another port with --port, or stop the program that uses it\n`,
      },
      {
        settings: { DATABASE_URL: 'postgresql://ada:secret-word@127.0.0.1:1/none' },
        says: 'bakehouse: The database at postgresql://ada:***@127.0.0.1:1/none cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n',
      },
      {
        settings: { BAKEHOUSE_S3_BUCKET: 'loaves', BAKEHOUSE_DATA_DIR: path.join(dataDir, 'fresh') },
        args: ['--services=web'],
        says: /^bakehouse: Set DATABASE_URL and BAKEHOUSE_SECRET to the values of the other processes of this installation: /,
      },
      {
        args: ['--services=web,oven'],
        says: "bakehouse: --services: unknown role 'oven'; the roles are web, worker, reconciler\n",
      },
    ];
    for (const { settings, args, says } of cases) {
      const { code, stdout, stderr } = await start(settings, args).ended;
      expect([code, stdout]).toEqual([1, '']);
      if (typeof says === 'string') expect(stderr).toBe(says);
      else expect(stderr).toMatch(says);
    }
    taken.close();
  });

  test('in JSON format, logs only JSON, also for readiness and startup errors', async () => {
    const json = { BAKEHOUSE_LOG_FORMAT: 'json' };
    const said = (stdout: string) =>
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object);
    const { child, ended } = start(json);
    let heard = '';
    while (!heard.includes('is ready at')) heard += String((await once(child.stdout, 'data'))[0]);
    const second = await start(json).ended;
    expect([second.code, second.stderr]).toEqual([1, '']);
    const why =
      'Another Bakehouse server already runs the workloads of this data folder: use that server, or stop it first';
    expect(said(second.stdout)).toContainEqual(expect.objectContaining({ level: 'fatal', msg: why }));
    child.kill('SIGTERM');
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    const msg: unknown = expect.stringMatching(/^Bakehouse is ready at http:/);
    expect(said(stdout)).toContainEqual(expect.objectContaining({ level: 'info', msg }));
  });

  // Must be the last test, because nothing can start on this database afterwards.
  test('shuts down gracefully when a newer version migrates the database', async () => {
    const { child, ended } = start();
    await urlOf(child);
    const { url } = await startEmbeddedPostgres({ dir: path.join(dataDir, 'postgres') });
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query("insert into schema_migrations (name, sha256) values ('9999_later.sql', '')");
    await client.end();
    expect((await ended).code).toBe(0);
  });
}, 240_000);
