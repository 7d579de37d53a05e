import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../testing/test-database.ts';
import { deleteBefore } from './delete-before.ts';

const { db } = await testDatabase();

test('deletes all older rows in as many statements as needed, and nothing else', async () => {
  await sql`
    create table counted as select 0 as rows where false;
    create function count_rows() returns trigger language plpgsql as $$
      begin insert into counted select count(*) from gone; return null; end $$;
    create trigger count_rows after delete on verifications referencing old table as gone
      for each statement execute function count_rows();
    insert into verifications (id, identifier, value, expires_at)
      select n::text, 'x', 'y', timestamptz '2026-01-01' + n * interval '1 day' from generate_series(1, 25) n`.execute(
    db,
  );
  const time = new Date('2026-01-23T00:00:00Z');
  await deleteBefore(db, 'verifications', { column: 'expires_at', time, batch: 10 });
  const left = await db.selectFrom('verifications').select('id').orderBy('expires_at').execute();
  expect(left.map(({ id }) => id)).toEqual(['22', '23', '24', '25']);
  const { rows } = await sql`select rows from counted`.execute(db);
  expect(rows).toEqual([{ rows: 10 }, { rows: 10 }, { rows: 1 }, { rows: 0 }]);
});
