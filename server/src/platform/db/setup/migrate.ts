import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** A process without a heartbeat for this long has ended. Processes send one every two seconds. */
const SILENT_S = 10;

const WAIT_MS_MAX = 15_000;
const LOOK_MS = 500;

/**
 * Folder of the schema. Steps are files `NNNN_<words>.sql`, applied once and never undone; their numbers may
 * have gaps. Functions, triggers and views are in `functions/<noun>.sql`, whose files can be applied
 * repeatedly.
 */
export const MIGRATIONS_DIR = path.resolve(import.meta.dirname, '../../../../migrations');

/** Id of the lock that prevents two servers from migrating at the same time; an arbitrary number. */
const LOCK = 4_080_000_001n;

const FILE_NAME = /^\d{4}_[a-z0-9_-]+\.sql$/;

/** Marks a file whose only statement cannot run inside a transaction. */
const NO_TRANSACTION = /^-- no transaction\s/;

/** Marks a step that processes of the previous version tolerate, so it is applied while they run. */
const EXPANDS = /^-- expand\b/;

/** Statements that only add. The clauses of `alter table` are checked one by one. */
const ADDS = /^(create (table|type|sequence|index)|comment on|alter table (only )?\S+ add column)\b/i;

/** A new column that the inserts of the previous version would leave out. */
const REQUIRED_COLUMN = /^(?!.*\bdefault\b).*\bnot null\b/i;

/** Name under which `schema_migrations` stores the functions. */
const FUNCTIONS = 'functions';

/** Steps of versions before the baseline. A database that has all of them has the baseline's schema. */
const BEFORE_BASELINE = {
  first: '0001_platform.sql',
  last: '0213_pictures_process.sql',
  count: 121,
  commit: 'ab554099',
};

type SqlFile = { name: string; sql: string };

/** A row of `schema_migrations`: a step, or all functions together. */
type Migration = { name: string; files: SqlFile[]; sha256: string; expands: boolean };
type Applied = Map<string, { sha256: string; expands: boolean }>;

/**
 * Applies the new steps in order, each in its own transaction. Then applies the functions, if they or a step
 * are new. Several processes may call this at the same time. Returns the applied names. Throws if an applied
 * step was changed or removed, or if a process of another version still runs and a step does more than add.
 * Also throws if a statement fails; that file is rolled back.
 */
export async function migrate(url: string, dir: string = MIGRATIONS_DIR): Promise<string[]> {
  const { steps, functions } = await readMigrations(dir);
  const client = new pg.Client({ connectionString: url, application_name: 'bakehouse migrate' });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    const applied = await adoptBaseline(client, steps, await readApplied(client));
    assertUnchanged(steps, applied);
    const pending = steps.filter(({ name }) => !applied.has(name));
    // A step that does more than add may have dropped a function or view, so apply the functions again.
    const hasOther = pending.some(({ expands }) => !expands);
    const isChanged = hasOther || applied.get(FUNCTIONS)?.sha256 !== functions.sha256;
    if (isChanged && functions.files.length > 0) pending.push(functions);
    if (pending.some(({ expands }) => !expands)) await awaitOtherProcesses(client);
    for (const migration of pending) await apply(client, migration);
    return pending.map(({ name }) => name);
  } finally {
    // Ending the session releases the lock.
    await client.end();
  }
}

/** Returns the steps in order and the functions, with checksums. Throws on bad or duplicate names. */
export async function readMigrations(
  dir: string = MIGRATIONS_DIR,
): Promise<{ steps: Migration[]; functions: Migration }> {
  const names = await listSql(dir);
  const numbers = new Set<string>();
  for (const name of names) {
    if (!FILE_NAME.test(name)) throw new Error(`${name}: a migration is named NNNN_<words>.sql`);
    if (numbers.has(name.slice(0, 4))) throw new Error(`Two migrations have the number ${name.slice(0, 4)}`);
    numbers.add(name.slice(0, 4));
  }
  const read = (files: string[]) =>
    Promise.all(files.map(async (name) => ({ name, sql: await readFile(path.join(dir, name), 'utf8') })));
  const functions = (await listSql(path.join(dir, FUNCTIONS))).map((name) => `${FUNCTIONS}/${name}`);
  return {
    steps: (await read(names)).map((file) => migrationOf(file.name, [file])),
    functions: migrationOf(FUNCTIONS, await read(functions)),
  };
}

async function listSql(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => name.endsWith('.sql')).sort();
}

/** Throws if a step that is marked as expanding does more than add. */
function migrationOf(name: string, files: SqlFile[]): Migration {
  const hash = createHash('sha256');
  for (const { sql } of files) hash.update(sql);
  const expands = files.some(({ sql }) => EXPANDS.test(sql));
  const breaking = expands && files.flatMap(({ sql }) => statementsOf(sql)).find((sql) => !onlyAdds(sql));
  if (breaking)
    throw new Error(
      `${name}: '${breaking}' can break the previous version while it runs: move it to a later step without '-- expand'`,
    );
  return { name, files, sha256: hash.digest('hex'), expands };
}

/** Returns the statements on one line each, without comments and without what is in parentheses. */
function statementsOf(sql: string): string[] {
  let text = sql.replace(/--.*/g, '').replace(/\s+/g, ' ');
  while (/\([^()]*\)/.test(text)) text = text.replace(/\([^()]*\)/g, '');
  return text.split(';').flatMap((statement) => statement.trim() || []);
}

function onlyAdds(statement: string): boolean {
  if (!ADDS.test(statement)) return false;
  const [, clauses] = /^alter table (?:only )?\S+ (.*)/i.exec(statement) ?? [];
  return !clauses
    ?.split(',')
    .some((clause) => !/^ ?add column\b/i.test(clause) || REQUIRED_COLUMN.test(clause));
}

/** Returns the applied migrations by name. */
async function readApplied(client: pg.Client): Promise<Applied> {
  await client.query(`
    create table if not exists schema_migrations (
      name text primary key,
      sha256 text not null,
      applied_at timestamptz not null default now()
    );
    alter table schema_migrations add column if not exists expands boolean not null default false`);
  const { rows } = await client.query<{ name: string; sha256: string; expands: boolean }>(
    'select name, sha256, expands from schema_migrations',
  );
  return new Map(rows.map(({ name, ...row }) => [name, row]));
}

/** Records the baseline, and returns the applied migrations. Throws if earlier steps are missing. */
async function adoptBaseline(client: pg.Client, steps: Migration[], applied: Applied): Promise<Applied> {
  const baseline = steps[0];
  if (!baseline || !applied.has(BEFORE_BASELINE.first)) return applied;
  if (!applied.has(BEFORE_BASELINE.last) || applied.size !== BEFORE_BASELINE.count) {
    throw new Error(
      `This database was last used by a version of Bakehouse that is too old to be upgraded in one step. First start commit ${BEFORE_BASELINE.commit} once with this database, then this version`,
    );
  }
  await awaitOtherProcesses(client);
  await inTransaction(client, async () => {
    await client.query('delete from schema_migrations');
    await record(client, baseline);
  });
  return new Map([[baseline.name, baseline]]);
}

function assertUnchanged(steps: Migration[], applied: Applied): void {
  const byName = new Map(steps.map((step) => [step.name, step]));
  for (const [name, { sha256, expands }] of applied) {
    if (name === FUNCTIONS) continue;
    const step = byName.get(name);
    if (!step && expands) continue;
    if (!step)
      throw new Error(
        `This database has the migration ${name}, which this version of Bakehouse does not know`,
      );
    if (step.sha256 !== sha256)
      throw new Error(`The migration ${name} was changed after this database had applied it`);
  }
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  const applyFiles = async () => {
    for (const file of migration.files) await run(client, file);
    await record(client, migration);
  };
  if (migration.files.some(({ sql }) => NO_TRANSACTION.test(sql))) await applyFiles();
  else await inTransaction(client, applyFiles);
}

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  try {
    await work();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

async function run(client: pg.Client, { name, sql }: SqlFile): Promise<void> {
  try {
    await client.query(sql);
  } catch (error) {
    throw new Error(`The migration ${name} failed: ${(error as Error).message}${whereInFile(sql, error)}`, {
      cause: error,
    });
  }
}

async function record(client: pg.Client, { name, sha256, expands }: Migration): Promise<void> {
  await client.query(
    `insert into schema_migrations (name, sha256, expands) values ($1, $2, $3)
     on conflict (name) do update set sha256 = excluded.sha256, applied_at = excluded.applied_at`,
    [name, sha256, expands],
  );
}

function whereInFile(sql: string, error: unknown): string {
  const position = Number((error as { position?: string }).position);
  return position ? ` (line ${sql.slice(0, position).split('\n').length})` : '';
}

/**
 * Waits until no other process uses this database, because a process of another version would continue with
 * its own schema. Throws a plain sentence that names the processes that still run.
 */
export async function awaitOtherProcesses(client: pg.Client, waitMsMax: number = WAIT_MS_MAX): Promise<void> {
  const began = performance.now();
  for (;;) {
    const running = await listRunning(client);
    if (running.length === 0) return;
    if (performance.now() - began > waitMsMax) {
      throw new Error(
        `This version of Bakehouse must migrate the database, but processes of another version still use it: ${running.join('; ')}. Stop them, then start again`,
      );
    }
    await sleep(LOOK_MS);
  }
}

async function listRunning(client: pg.Client): Promise<string[]> {
  // Old databases have no table of processes.
  const known = await client.query("select to_regclass('processes') is not null as found");
  if (!known.rows[0].found) return [];
  const { rows } = await client.query<{ what: string }>(`
    select array_to_string(p.roles, '+') || coalesce(' on ' || m.name, ' at ' || p.url, '') as what
    from processes p left join machines m on m.id = p.machine_id
    where p.left_at is null and p.seen_at > clock_timestamp() - interval '${SILENT_S} seconds'
    order by what`);
  return rows.map(({ what }) => what);
}
