import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase } from '../../testing/test-database.ts';
import { toJson } from './database.ts';

const { db } = await testDatabase();

test('values keep their exactness on the way in and out', async () => {
  const big = 9_007_199_254_740_993n;
  const { rows } = await sql`
    select ${big}::bigint as big, array[${big}, null]::bigint[] as bigs, 0.1::numeric as part,
      date '2026-02-28' as day, timestamptz '2026-01-01T00:00:00Z' as at,
      ${toJson([{ amount: big }])}::jsonb as list
  `.execute(db);
  expect(rows[0]).toEqual({
    big,
    bigs: [big, null],
    part: '0.1',
    day: '2026-02-28',
    at: new Date('2026-01-01T00:00:00Z'),
    list: [{ amount: '9007199254740993' }],
  });
});

test('the audit log only grows', async () => {
  await db.insertInto('audit_log').values({ action: 'test.done', user_id: null }).execute();
  await expect(db.updateTable('audit_log').set({ action: 'test.other' }).execute()).rejects.toThrow(
    'append-only',
  );
  await expect(db.deleteFrom('audit_log').execute()).rejects.toThrow('append-only');
  await expect(sql`truncate audit_log`.execute(db)).rejects.toThrow('append-only');
});
