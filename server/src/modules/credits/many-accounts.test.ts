import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { plansOf, recordingDatabase } from '../../testing/recording-database.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { selectAccounts } from './account-queries.ts';
import { listAllCodes } from './codes/code-queries.ts';

const { url } = await testDatabase();
const recording = recordingDatabase(url);
const { db } = recording;

beforeAll(async () => {
  await sql`
    insert into users (id, name, username, email, created_at)
    select 'id' || n, 'Baker ' || n, 'u' || md5(n::text)::varchar(29), md5((n + 10000)::text) || '@example.com',
      timestamptz '2026-01-01' + n * interval '1 minute'
    from generate_series(1, 10000) n`.execute(db);
  await sql`
    with code as (
      insert into credit_codes (sha256, hint, amount_micro, redemptions_max, note, created_by)
      values ('x', 'x', 1, 5000, '', 'id1') returning id
    )
    insert into credit_code_redemptions (code_id, user_id, redeemed_at)
    select code.id, users.id, users.created_at from code, users where users.id < 'id5'`.execute(db);
  await sql`vacuum analyze users, credit_code_redemptions`.execute(db);
});

const list = (search: string, after: { id: string } | null = null) =>
  selectAccounts(db, { search, after, limit: 51 });

test('the newest users are read in their order, page by page', async () => {
  for (const after of [null, { id: 'id5000' }]) {
    expect(await list('', after)).toHaveLength(51);
    const [plan] = await plansOf(recording, () => list('', after));
    expect(plan).toContain('Index Scan Backward using users_by_creation');
    expect(plan).not.toMatch(/Seq Scan on users|Sort/);
  }
});

test('a part of a name or an address is found by the index of words', async () => {
  for (const part of ['aker 777', 'c4ca4238a0b9', 'id777']) {
    expect((await list(part)).length).toBeGreaterThan(0);
    const [plan] = await plansOf(recording, () => list(part));
    expect(plan).toContain('Bitmap Index Scan on users_by_words');
    expect(plan).not.toContain('Seq Scan on users');
  }
});

test('the latest of many who redeemed a code are read, and no others', async () => {
  const [code] = await listAllCodes(db, { before: null, limit: 10 });
  expect(code?.redeemed_by).toHaveLength(20);
  const [plan] = await plansOf(recording, () => listAllCodes(db, { before: null, limit: 10 }), {
    analyze: true,
  });
  expect(plan).toMatch(/using credit_code_redemptions_latest on .*rows=20/);
});
