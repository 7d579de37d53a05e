import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { plansOf, recordingDatabase } from '../../testing/recording-database.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { selectAccounts } from './accounts.ts';
import { listAllCodes } from './codes/code-queries.ts';
import { collectDebts } from './ledger/given-credits.ts';
import { getUserTotals } from './queries.ts';

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
  await sql`
    insert into ledger_accounts (id, kind, owner_user_id, credits_posted, debits_posted, debits_pending, given)
    select 'user:' || id, 'user', id, 10, 0, 0, 0 from users`.execute(db);
  await sql`
    insert into ledger_accounts (id, kind, owner_user_id)
    select 'receivable:' || id, 'receivable', id from users where id in ('id7', 'id8')`.execute(db);
  await sql`
    insert into ledger_transfers (debit_account_id, credit_account_id, amount, kind, description, refs)
    values ('receivable:id7', 'payments', 4, 'chargeback', 'Chargeback', '{}')`.execute(db);
  await sql`vacuum analyze users, credit_code_redemptions, ledger_accounts, ledger_transfers`.execute(db);
});

const list = (search: string, after: { id: string } | null = null) =>
  selectAccounts(db, { search, after, limit: 51 });

test('reads the newest users in order, page by page', async () => {
  for (const after of [null, { id: 'id5000' }]) {
    expect(await list('', after)).toHaveLength(51);
    const [plan] = await plansOf(recording, () => list('', after));
    expect(plan).toContain('Index Scan Backward using users_by_creation');
    expect(plan).not.toMatch(/Seq Scan on users|Sort/);
  }
});

test('finds a part of a name or address through the word index', async () => {
  for (const part of ['aker 777', 'c4ca4238a0b9', 'id777']) {
    expect((await list(part)).length).toBeGreaterThan(0);
    const [plan] = await plansOf(recording, () => list(part));
    expect(plan).toContain('Bitmap Index Scan on users_by_words');
    expect(plan).not.toContain('Seq Scan on users');
  }
});

test('collects debts without reading accounts without a debt', async () => {
  const collect = () => db.transaction().execute((tx) => collectDebts(tx, { limit: 100 }));
  const [plan] = await plansOf(recording, collect);
  expect(plan).toContain('using ledger_accounts_receivable');
  expect(plan).not.toContain('Seq Scan on ledger_accounts');
  expect(await collect()).toEqual([]);
  expect(await getUserTotals(db, 'id7')).toMatchObject({ balance: 6n, owed: 0n });
});

test('reads only the latest of many redemptions of a code', async () => {
  const [code] = await listAllCodes(db, { before: null, limit: 10 });
  expect(code?.redeemed_by).toHaveLength(20);
  const [plan] = await plansOf(recording, () => listAllCodes(db, { before: null, limit: 10 }), {
    analyze: true,
  });
  expect(plan).toMatch(/using credit_code_redemptions_latest on .*rows=20/);
});
