import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { describe, expect, inject, test } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { createDatabase, dropDatabase } from '../../../testing/temporary-postgres.ts';
import { connect } from '../database.ts';
import { MIGRATIONS_DIR, migrate } from './migrate.ts';

/** The number of steps before the last one. */
const STEPS_BEFORE = ['0001_platform.sql', ...Array.from({ length: 119 }, (_, n) => `step ${n}`)];

let databases = 0;

async function newDatabase() {
  databases += 1;
  const name = `migrate_${process.pid}_${databases}`;
  const url = await createDatabase(inject('postgresUrl'), name);
  const db = connect(url);
  onFileEnd(async () => {
    await db.destroy();
    await dropDatabase(inject('postgresUrl'), name);
  });
  const exists = async (table: string) => {
    const { rows } = await sql<{ found: boolean }>`select to_regclass(${table}) is not null as found`.execute(
      db,
    );
    return rows[0]?.found;
  };
  return { url, db, exists };
}

async function folderWith(files: Record<string, string>) {
  const dir = await temporaryFolder();
  const write = async (name: string, text: string) => {
    await mkdir(path.dirname(path.join(dir, name)), { recursive: true });
    await writeFile(path.join(dir, name), text);
  };
  for (const [name, text] of Object.entries(files)) await write(name, text);
  return { dir, write };
}

describe('migrate', () => {
  test('applies new files in order, with gaps in the numbers, and each only once', async () => {
    const { url, exists } = await newDatabase();
    const { dir, write } = await folderWith({
      '0005_b.sql': 'alter table a add column more int;',
      '0001_a.sql': 'create table a ();',
    });
    expect(await migrate(url, dir)).toEqual(['0001_a.sql', '0005_b.sql']);
    expect(await migrate(url, dir)).toEqual([]);
    await write('0003_late.sql', 'create table late ();');
    expect(await migrate(url, dir)).toEqual(['0003_late.sql']);
    expect(await exists('late')).toBe(true);
  });

  test('rolls a broken file back, keeps earlier ones, and names file and line', async () => {
    const { url, exists } = await newDatabase();
    const { dir, write } = await folderWith({
      '0001_good.sql': 'create table good ();',
      '0002_bad.sql': 'create table half ();\n\nselect nonsense;',
    });
    await expect(migrate(url, dir)).rejects.toThrow(
      /0002_bad\.sql failed: column "nonsense" does not exist \(line 3\)/,
    );
    expect([await exists('good'), await exists('half')]).toEqual([true, false]);
    await write('0002_bad.sql', 'create table whole ();');
    expect(await migrate(url, dir)).toEqual(['0002_bad.sql']);
  });

  test('applies the functions after the steps, and again if one of them or a step is new', async () => {
    const { url, db } = await newDatabase();
    const answer = (n: number) =>
      `create or replace function answer() returns int language sql as $$ select ${n} from a $$;`;
    const { dir, write } = await folderWith({
      '0001_a.sql': 'create table a (n int); insert into a values (1);',
      'functions/answer.sql': answer(1),
      'functions/seen.sql': 'drop view if exists seen; create view seen as select n from a;',
    });
    const told = async () => (await sql<{ n: number }>`select answer() as n`.execute(db)).rows[0]?.n;
    expect(await migrate(url, dir)).toEqual(['0001_a.sql', 'functions']);
    expect(await migrate(url, dir)).toEqual([]);
    expect(await told()).toBe(1);
    await write('functions/answer.sql', answer(2));
    expect(await migrate(url, dir)).toEqual(['functions']);
    expect(await told()).toBe(2);
    await write('0002_b.sql', 'drop view seen; alter table a alter column n type bigint;');
    expect(await migrate(url, dir)).toEqual(['0002_b.sql', 'functions']);
    await sql`select n from seen`.execute(db);
    await write('functions/answer.sql', 'select nonsense;');
    await expect(migrate(url, dir)).rejects.toThrow(/functions\/answer\.sql failed: .* \(line 1\)/);
    expect(await told()).toBe(2);
  });

  test('adopts a database that has all steps before the baseline, without changing it', async () => {
    const { url, db } = await newDatabase();
    // Only the baseline, without later steps.
    const name = '0001_baseline.sql';
    const { dir } = await folderWith({ [name]: await readFile(path.join(MIGRATIONS_DIR, name), 'utf8') });
    expect(await migrate(url, dir)).toEqual([name]);
    const tables = async () =>
      (await sql`select oid, relname from pg_class where relkind = 'r' order by oid`.execute(db)).rows;
    const before = await tables();
    const standAt = async (last: string) => {
      await sql`delete from schema_migrations`.execute(db);
      await sql`insert into schema_migrations (name, sha256)
        select name, '' from unnest(array_append(${STEPS_BEFORE}::text[], ${last})) name`.execute(db);
    };
    await standAt('0212_lists_of_generations.sql');
    await expect(migrate(url, dir)).rejects.toThrow('too old to be upgraded in one step');
    await standAt('0213_pictures_process.sql');
    expect(await migrate(url, dir)).toEqual([]);
    expect(await tables()).toEqual(before);
  });

  test('lets many processes start concurrently', async () => {
    const { url } = await newDatabase();
    const { dir } = await folderWith({
      '0001_a.sql': 'create table a ();',
      '0002_b.sql': 'create table b ();',
    });
    const applied = await Promise.all([migrate(url, dir), migrate(url, dir), migrate(url, dir)]);
    expect(applied.flat()).toEqual(['0001_a.sql', '0002_b.sql']);
  });

  test('runs a file outside of a transaction if it is marked so', async () => {
    const { url, exists } = await newDatabase();
    const { dir } = await folderWith({
      '0001_a.sql': 'create table a (n int);',
      '0002_index.sql': '-- no transaction\ncreate index concurrently a_n on a (n);',
    });
    await migrate(url, dir);
    expect(await exists('a_n')).toBe(true);
  });

  test('rejects files that were changed or removed after they were applied', async () => {
    const { url } = await newDatabase();
    const { dir, write } = await folderWith({ '0001_a.sql': 'create table a ();' });
    await migrate(url, dir);
    await write('0001_a.sql', 'create table a (n int);');
    await expect(migrate(url, dir)).rejects.toThrow('0001_a.sql was changed');
    const { dir: newer } = await folderWith({ '0002_b.sql': 'select 1;' });
    await expect(migrate(url, newer)).rejects.toThrow(
      '0001_a.sql, which this version of Bakehouse does not know',
    );
  });

  test.each([
    'alter table a drop column b;',
    'alter table a rename to b;',
    'alter table a alter column b set not null;',
    'alter table a alter column b type text;',
    'alter table a add column b int not null;',
    'alter table a add column b numeric(10, 2) not null;',
    'alter table a add column b int, add column c int not null;',
    'alter table a add column b int, add check (b > 0);',
    'alter table a add b int not null;',
    'alter table a alter b type text;',
    'alter table a add unique (b);',
    'create unique index on a (b);',
    'update a set b = 1;',
  ])('rejects a step that is marked as adding but breaks the previous version: %s', async (statement) => {
    const { dir } = await folderWith({ '0001_a.sql': `-- expand\n${statement}` });
    await expect(migrate('', dir)).rejects.toThrow('0001_a.sql: ');
  });

  test('accepts a step that only adds', async () => {
    const { url } = await newDatabase();
    const { dir } = await folderWith({
      '0001_a.sql':
        '-- expand: drop nothing\ncreate table a (n int not null); alter table a add column b numeric(4, 1) not null default 0, add column c int; create index on a (c);',
    });
    expect(await migrate(url, dir)).toEqual(['0001_a.sql']);
  });

  test('rejects duplicate numbers, and names without a number', async () => {
    const { url } = await newDatabase();
    const { dir } = await folderWith({ '0001_a.sql': 'select 1;', '0001_b.sql': 'select 1;' });
    await expect(migrate(url, dir)).rejects.toThrow('the number 0001');
    const { dir: other } = await folderWith({ 'fix.sql': 'select 1;' });
    await expect(migrate(url, other)).rejects.toThrow('fix.sql: a migration is named NNNN_<words>.sql');
  });
});

test('keeps a video from before sound support as one without sound', async () => {
  const { url, db } = await newDatabase();
  const videos = '0014_videos.sql';
  const before = (await readdir(MIGRATIONS_DIR)).filter((name) => /^\d+.*\.sql$/.test(name) && name < videos);
  const read = (name: string) => readFile(path.join(MIGRATIONS_DIR, name), 'utf8');
  const { dir, write } = await folderWith({});
  for (const name of before) await write(name, await read(name));
  await migrate(url, dir);
  await db.transaction().execute(async (tx) => {
    // Disable foreign keys, because the test inserts only this row.
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`insert into generation_outputs
      (generation_id, user_id, sha256, media_type, size_bytes, width, height, duration_s)
      values (uuidv7(), 'ada', 'a', 'video/mp4', 1, 1, 1, 2.5), (uuidv7(), 'ada', 'b', 'image/png', 1, 1, 1, null)
    `.execute(tx);
  });
  await write(videos, await read(videos));
  expect(await migrate(url, dir)).toEqual([videos]);
  const { rows } = await sql`select media_type, has_audio from generation_outputs order by sha256`.execute(
    db,
  );
  expect(rows).toEqual([
    { media_type: 'video/mp4', has_audio: false },
    { media_type: 'image/png', has_audio: null },
  ]);
});
