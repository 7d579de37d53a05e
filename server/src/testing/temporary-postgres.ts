import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import {
  discardEmbeddedPostgres,
  isProcessAlive,
  startEmbeddedPostgres,
} from '../platform/postgres/embedded-postgres.ts';
import { databaseFolder } from './temporary-folder.ts';

const PREFIX = 'bakehouse-test-';

/** Fast instead of safe, because the data need not survive. */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_connections: '300',
};

/**
 * Starts a separate PostgreSQL that runs until `stop` is called. First deletes what killed runs have left.
 */
export async function startTemporaryPostgres(): Promise<{ url: string; stop: () => Promise<void> }> {
  const parent = await databaseFolder();
  await sweep(parent);
  const home = await mkdtemp(path.join(parent, PREFIX));
  // If this process is root, the server runs as another user, which must be able to enter the folder.
  await chmod(home, 0o755);
  await writeFile(path.join(home, 'owner.pid'), String(process.pid));
  const dir = path.join(home, 'postgres');
  const server = await startEmbeddedPostgres({ dir, settings });
  return {
    url: server.url,
    stop: async () => {
      await discardEmbeddedPostgres(dir);
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Creates a database on the server at `url`, and returns its URL. */
export async function createDatabase(url: string, name: string, template = 'template1'): Promise<string> {
  await query(url, `create database ${name} template ${template} strategy file_copy`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}

export async function dropDatabase(url: string, name: string): Promise<void> {
  await query(url, `drop database ${name} with (force)`);
}

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function sweep(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const home = path.join(parent, name);
    const owner = Number(await readFile(path.join(home, 'owner.pid'), 'utf8').catch(() => ''));
    if (!owner || isProcessAlive(owner)) continue;
    await discardEmbeddedPostgres(path.join(home, 'postgres'));
    await rm(home, { recursive: true, force: true });
  }
}
