import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase } from '../../testing/test-database.ts';

/** Rows of the referenced table are never deleted, so these need no index. */
const NEVER_DELETED = [
  'ledger_accounts',
  'ledger_holds',
  'ledger_transfers',
  'users',
  'workloads',
  'machines',
  'model_servers',
  'deployments',
];

test('deleting a row scans no table that may reference it', async () => {
  const { db } = await testDatabase();
  // An index works if its first columns are the foreign key's and it covers all rows.
  const { rows } = await sql<{ key: string; target: string }>`
    select c.conrelid::regclass || ' (' || (
        select string_agg(a.attname, ', ' order by a.attnum) from pg_attribute a
        where a.attrelid = c.conrelid and a.attnum = any(c.conkey)
      ) || ')' as key,
      c.confrelid::regclass::text as target
    from pg_constraint c
    where c.contype = 'f' and c.connamespace = 'public'::regnamespace and not exists (
      select from pg_index i
      where i.indrelid = c.conrelid and i.indpred is null
        and (i.indkey::int2[])[0:cardinality(c.conkey) - 1] @> c.conkey
    )
    order by 1`.execute(db);
  expect(rows.filter(({ target }) => !NEVER_DELETED.includes(target))).toEqual([]);
});
