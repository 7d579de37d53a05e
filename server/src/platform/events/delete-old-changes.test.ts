import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase } from '../../testing/test-database.ts';
import { deleteOld } from './delete-old-changes.ts';

const { db } = await testDatabase();

test('deletes old changes in batches, each of which continues after the previous one', async () => {
  await sql`
    create table counted as select 0 as rows where false;
    create function count_rows() returns trigger language plpgsql as $$
      begin insert into counted select count(*) from gone; return null; end $$;
    create trigger count_rows after delete on recent_changes referencing old table as gone
      for each statement execute function count_rows()`.execute(db);
  await sql`
    insert into recent_changes (user_id, topic, thing_id, at)
    select (array['', 'ada', 'bob'])[1 + n % 3], 'run', lpad(n::text, 2, '0'),
      timestamptz '2026-01-01' + (n % 5) * interval '1 day'
    from generate_series(1, 25) n`.execute(db);
  const before = new Date('2026-01-04T00:00:00Z');
  const places: string[] = [];
  let after: Awaited<ReturnType<typeof deleteOld>> = { user_id: '', topic: '', thing_id: '' };
  while (after) {
    after = await deleteOld(db, { before, after, limit: 6 });
    if (after) places.push(`${after.user_id} ${after.thing_id}`);
  }
  expect(places).toEqual(places.toSorted());
  const { rows } = await sql`select rows from counted`.execute(db);
  expect(rows).toEqual([{ rows: 6 }, { rows: 6 }, { rows: 3 }, { rows: 0 }]);
  const left = await db.selectFrom('recent_changes').select('at').execute();
  expect(left.filter(({ at }) => at < before)).toEqual([]);
  expect(left).toHaveLength(10);
});
