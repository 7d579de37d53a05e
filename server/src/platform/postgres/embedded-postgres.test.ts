import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { databaseFolder, temporaryFolder } from '../../testing/temporary-folder.ts';
import {
  discardEmbeddedPostgres,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from './embedded-postgres.ts';

const home = await temporaryFolder(await databaseFolder());
let folders = 0;

/** Returns a folder for a cluster. Its server is killed at the end of the file. */
function newFolder(parent = home): string {
  folders += 1;
  const dir = path.join(parent, `postgres-${folders}`);
  onFileEnd(() => discardEmbeddedPostgres(dir));
  return dir;
}

async function query(server: EmbeddedPostgres, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Faster, for tests that do not test durability. */
const settings = { fsync: 'off' };

describe('startEmbeddedPostgres', () => {
  test('creates a durable server that listens on a socket only, and retains its data over a restart', async () => {
    const dir = newFolder();
    const first = await startEmbeddedPostgres({ dir });
    const shown = `select current_setting('server_version_num')::int / 10000 as version,
      current_setting('listen_addresses') as addresses, current_setting('fsync') as fsync,
      current_setting('data_checksums') as checksums, current_setting('timezone') as timezone`;
    expect(await query(first, shown)).toEqual([
      { version: 18, addresses: '', fsync: 'on', checksums: 'on', timezone: expect.stringMatching(/UTC$/) },
    ]);
    await query(first, 'create table kept as select 7 as n');
    await first.stop();
    await expect(query(first, 'select 1')).rejects.toThrow();

    const second = await startEmbeddedPostgres({ dir });
    expect(second.adopted).toBe(false);
    expect(await query(second, 'select n from kept')).toEqual([{ n: 7 }]);
  });

  test('requires the password stored in its folder', async () => {
    const dir = newFolder();
    const server = await startEmbeddedPostgres({ dir, settings });
    const file = path.join(await realpath(dir), 'bakehouse.password');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    for (const password of ['', 'wrong']) {
      const url = new URL(server.url);
      url.password = password;
      await expect(query({ ...server, url: url.href }, 'select 1')).rejects.toThrow(/password/);
    }
  });

  test('adopts the server that a killed Node left running', async () => {
    const dir = newFolder();
    const launcher = path.join(import.meta.dirname, 'embedded-postgres.ts');
    const script = `
      import { startEmbeddedPostgres } from ${JSON.stringify(launcher)};
      const { pid } = await startEmbeddedPostgres({ dir: ${JSON.stringify(dir)} });
      console.log(pid);
      setInterval(() => {}, 1000);`;
    const node = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(node.stdout, 'data');
    node.kill('SIGKILL');
    await once(node, 'exit');

    const server = await startEmbeddedPostgres({ dir });
    expect(server).toMatchObject({ adopted: true, pid: Number(String(line)) });
    await server.stop();
    await expect(query(server, 'select 1')).rejects.toThrow();
  });

  test('recovers every committed row after the postmaster was killed', async () => {
    const dir = newFolder();
    const server = await startEmbeddedPostgres({ dir });
    await query(server, 'create table rows (n int)');
    const client = new pg.Client({ connectionString: server.url });
    client.on('error', () => undefined);
    await client.connect();
    let committed = 0;
    const writing = (async () => {
      for (;;) {
        await client.query('insert into rows values ($1)', [committed]);
        committed += 1;
        if (committed === 200) process.kill(server.pid, 'SIGKILL');
      }
    })();
    await expect(writing).rejects.toThrow();

    const recovered = await startEmbeddedPostgres({ dir });
    expect(recovered.adopted).toBe(false);
    const [row] = (await query(recovered, 'select count(*)::int as n from rows')) as { n: number }[];
    expect(row?.n).toBeGreaterThanOrEqual(committed);
  });

  test('starts even if the lock file contains the process id of another program', async () => {
    const dir = newFolder();
    const first = await startEmbeddedPostgres({ dir, settings });
    await first.stop();
    const stale = [process.pid, dir, 1, 5432, dir, '', '  1 1', 'ready'].join('\n');
    await writeFile(path.join(await realpath(dir), 'postmaster.pid'), `${stale}\n`);

    const second = await startEmbeddedPostgres({ dir, settings });
    expect(second.adopted).toBe(false);
    expect(await query(second, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('two concurrent starts on a new folder end up with one server', async () => {
    const dir = newFolder();
    const both = await Promise.all([
      startEmbeddedPostgres({ dir, settings }),
      startEmbeddedPostgres({ dir, settings }),
    ]);
    expect(both[0].pid).toBe(both[1].pid);
    expect(both.filter((server) => server.adopted)).toHaveLength(1);
  });

  test('serves two folders, also if the path is too long for a socket', async () => {
    const deep = path.join(home, 'a folder with spaces', 'x'.repeat(90));
    const [one, two] = await Promise.all(
      [newFolder(), newFolder(deep)].map((dir) => startEmbeddedPostgres({ dir, settings })),
    );
    await query(one as EmbeddedPostgres, 'create table only_here ()');
    expect(await query(two as EmbeddedPostgres, "select to_regclass('only_here') as found")).toEqual([
      { found: null },
    ]);
  });

  test('stops while psql is connected, but not while another Bakehouse process is', async () => {
    const server = await startEmbeddedPostgres({ dir: newFolder(), settings });
    const connectAs = async (application_name: string) => {
      const client = new pg.Client({ connectionString: server.url, application_name });
      client.on('error', () => undefined);
      await client.connect();
      return client;
    };
    const psql = await connectAs('psql');
    const other = await connectAs('bakehouse events');
    expect(await server.stop({ isCommand: true })).toBe(false);
    expect((await other.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await other.end();
    expect(await server.stop()).toBe(true);
    await expect(psql.query('select 1')).rejects.toThrow();
  });

  test('reports why a folder is unusable', async () => {
    const foreign = newFolder();
    await mkdir(foreign);
    await expect(startEmbeddedPostgres({ dir: foreign })).rejects.toThrow(/is not a PostgreSQL database/);
    await writeFile(path.join(foreign, 'PG_VERSION'), '15\n');
    await expect(startEmbeddedPostgres({ dir: foreign })).rejects.toThrow(
      /was created by PostgreSQL 15, but this version needs 18/,
    );
  });

  test.runIf(process.getuid?.() === 0)(
    'as root, stores the data where its user has access, and links to it',
    async () => {
      // Mode 700, like /root.
      const closed = await mkdtemp(path.join(tmpdir(), 'bakehouse-closed-'));
      const dir = newFolder(closed);
      const server = await startEmbeddedPostgres({ dir, settings });
      const real = await realpath(dir);
      expect((await lstat(dir)).isSymbolicLink()).toBe(true);
      expect(real).toMatch(/^\/var\/lib\/bakehouse\//);
      expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
      await discardEmbeddedPostgres(dir);
      await expect(lstat(real)).rejects.toThrow('ENOENT');
      await rm(closed, { recursive: true });
    },
  );
});
