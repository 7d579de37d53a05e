import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { describe, expect, inject, test } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { createDatabase, dropDatabase } from '../../../testing/temporary-postgres.ts';
import { connect } from '../database.ts';
import { migrate } from './migrate.ts';

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
  return { url, exists };
}

async function folderWith(files: Record<string, string>) {
  const dir = await temporaryFolder();
  const write = async (name: string, text: string) => writeFile(path.join(dir, name), text);
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

  test('rolls a broken file back, keeps those before it, and names file and line', async () => {
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

  test('lets many processes start at once', async () => {
    const { url } = await newDatabase();
    const { dir } = await folderWith({
      '0001_a.sql': 'create table a ();',
      '0002_b.sql': 'create table b ();',
    });
    const applied = await Promise.all([migrate(url, dir), migrate(url, dir), migrate(url, dir)]);
    expect(applied.flat()).toEqual(['0001_a.sql', '0002_b.sql']);
  });

  test('runs a file outside of a transaction where it says so', async () => {
    const { url, exists } = await newDatabase();
    const { dir } = await folderWith({
      '0001_a.sql': 'create table a (n int);',
      '0002_index.sql': '-- no transaction\ncreate index concurrently a_n on a (n);',
    });
    await migrate(url, dir);
    expect(await exists('a_n')).toBe(true);
  });

  test('refuses files that were changed or lost after they were applied', async () => {
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

  test('refuses a number used twice, and names without one', async () => {
    const { url } = await newDatabase();
    const { dir } = await folderWith({ '0001_a.sql': 'select 1;', '0001_b.sql': 'select 1;' });
    await expect(migrate(url, dir)).rejects.toThrow('the number 0001');
    const { dir: other } = await folderWith({ 'fix.sql': 'select 1;' });
    await expect(migrate(url, other)).rejects.toThrow('fix.sql: a migration is named NNNN_<words>.sql');
  });
});
