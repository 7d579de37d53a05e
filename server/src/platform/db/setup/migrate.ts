import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { awaitSilence } from './await-silence.ts';

/** The server's own migrations: `NNNN_<module>.sql`, forward only. Numbers may have gaps. */
export const MIGRATIONS_DIR = path.resolve(import.meta.dirname, '../../../../migrations');

type Migration = { name: string; sql: string; sha256: string };

/** Any number that is Bakehouse's own: it keeps two starting servers from migrating at once. */
const LOCK = 4_080_000_001n;
const FILE_NAME = /^\d{4}_[a-z0-9_-]+\.sql$/;
/** First line of a file whose one statement cannot run inside a transaction. */
const NO_TRANSACTION = /^-- no transaction\s/;

/**
 * Applies the files that this database has not seen, in order, each in its own transaction.
 * Safe to call from several processes at once. Returns the names that it applied. Throws when an
 * applied file was changed or removed, a process of the version before still runs, or a statement fails (that
 * file is rolled back).
 */
export async function migrate(url: string, dir: string = MIGRATIONS_DIR): Promise<string[]> {
  const migrations = await readMigrations(dir);
  const client = new pg.Client({ connectionString: url, application_name: 'bakehouse migrate' });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    const applied = await readApplied(client);
    refuseChanged(migrations, applied);
    const pending = migrations.filter((migration) => !applied.has(migration.name));
    if (pending.length > 0) await awaitSilence(client);
    for (const migration of pending) await apply(client, migration);
    return pending.map((migration) => migration.name);
  } finally {
    // Ending the session releases the lock.
    await client.end();
  }
}

/** The files in order, with their checksums. Throws on a misnamed file or a number used twice. */
export async function readMigrations(dir: string = MIGRATIONS_DIR): Promise<Migration[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith('.sql') && name !== 'schema.sql').sort();
  const numbers = new Set<string>();
  for (const name of names) {
    if (!FILE_NAME.test(name)) throw new Error(`${name}: a migration is named NNNN_<words>.sql`);
    if (numbers.has(name.slice(0, 4))) throw new Error(`Two migrations have the number ${name.slice(0, 4)}`);
    numbers.add(name.slice(0, 4));
  }
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(path.join(dir, name), 'utf8');
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

async function readApplied(client: pg.Client): Promise<Map<string, string>> {
  await client.query(`
    create table if not exists schema_migrations (
      name text primary key,
      sha256 text not null,
      applied_at timestamptz not null default now()
    )`);
  const { rows } = await client.query<{ name: string; sha256: string }>(
    'select name, sha256 from schema_migrations',
  );
  return new Map(rows.map((row) => [row.name, row.sha256]));
}

function refuseChanged(migrations: Migration[], applied: Map<string, string>): void {
  const byName = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const [name, sha256] of applied) {
    const migration = byName.get(name);
    if (!migration)
      throw new Error(
        `This database has the migration ${name}, which this version of Bakehouse does not know`,
      );
    if (migration.sha256 !== sha256)
      throw new Error(`The migration ${name} was changed after this database had applied it`);
  }
}

async function apply(client: pg.Client, { name, sql, sha256 }: Migration): Promise<void> {
  const record = () =>
    client.query('insert into schema_migrations (name, sha256) values ($1, $2)', [name, sha256]);
  try {
    if (NO_TRANSACTION.test(sql)) {
      await client.query(sql);
      await record();
      return;
    }
    await client.query('begin');
    await client.query(sql);
    await record();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw new Error(`The migration ${name} failed: ${(error as Error).message}${whereInFile(sql, error)}`, {
      cause: error,
    });
  }
}

function whereInFile(sql: string, error: unknown): string {
  const position = Number((error as { position?: string }).position);
  return position ? ` (line ${sql.slice(0, position).split('\n').length})` : '';
}
