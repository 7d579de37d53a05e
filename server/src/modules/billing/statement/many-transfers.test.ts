import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { readSnapshot } from '../../../platform/db/read-snapshot.ts';
import { plansOf, recordingDatabase } from '../../../testing/recording-database.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { sumSentInDay } from '../queries.ts';
import { selectSends } from '../transfers.ts';
import { addToSealedSums, LAST_SEQ } from '../verification/chain-queries.ts';
import { listUserTransfers } from './statement-queries.ts';
import { sumSpendByDay, sumSpendByKey, sumUserTransfers } from './sum-queries.ts';

const TRANSFERS = 20_000;
/** More than the number of Ada's transfers on two days. */
const OF_ENDS = 20;

const { url } = await testDatabase();
const recording = recordingDatabase(url);
const { db, asked } = recording;
const selection = { userId: 'ada', keyId: 'key1', timeZone: 'UTC' };
/** In this time zone, a day starts and ends in the middle of the UTC days that the sealer sums. */
const period = { from: '2026-01-01', to: '2026-01-31', timeZone: 'Asia/Kolkata' };

beforeAll(async () => {
  // There are no rows for these users. Ada has about seven transfers a day.
  await db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`
      insert into ledger_transfers (debit_account_id, credit_account_id, amount, kind, description, refs, created_at)
      select 'user:' || case n % 20 when 0 then 'ada' else 'other' || n % 100 end, 'revenue:llm_inference', 1, 'charge', 'Tokens',
        jsonb_build_object('key_id', 'key' || n / 20 % 7), timestamptz '2026-01-01 00:00Z' + n * interval '10 minutes'
      from generate_series(1, ${TRANSFERS}::int) n`.execute(tx);
    // Eve has sent and received for a month, and has many charges of today.
    await sql`
      insert into ledger_transfers (debit_account_id, credit_account_id, amount, kind, description, refs, created_at)
      select 'user:eve', 'user:other1', 1, 'transfer', '', '{}'::jsonb, now() - n * interval '30 minutes'
      from generate_series(1, 1500) n
      union all
      select 'user:other' || n % 100, 'user:eve', 1, 'transfer', '', '{}', now() - n * interval '4 minutes'
      from generate_series(1, 11000) n
      union all
      select 'user:eve', 'revenue:llm_inference', 1, 'charge', '', '{}', now() - n * interval '10 seconds'
      from generate_series(1, 5000) n`.execute(tx);
    await sql`
      insert into ledger_accounts (id, kind, owner_user_id, credits_posted, debits_posted, debits_pending, given)
      select 'user:' || id, 'user', id, 0, 0, 0, 0 from (values ('eve'), ('other1')) users (id)`.execute(tx);
    await sql`insert into ledger_seals select seq, repeat('0', 64) from ledger_transfers`.execute(tx);
    await addToSealedSums(tx, { after: 0n, upTo: LAST_SEQ });
  });
  await sql`analyze`.execute(db);
});

type Plan = {
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  Plans?: Plan[];
};

/** Returns how many transfers the last query reads, through which indexes, and how many rows it returns. */
async function readBy(read: () => Promise<unknown[]>) {
  asked.length = 0;
  const answered = await read();
  const last = asked.findLast(({ text }) => text.includes('ledger_'));
  const { rows } = await db.executeQuery<{ 'QUERY PLAN': { Plan: Plan }[] }>({
    ...sql`select 1`.compile(db),
    sql: `explain (analyze, format json) ${last?.text}`,
    parameters: last?.values ?? [],
  });
  const nodes: Plan[] = [];
  const visit = (plan: Plan) => {
    nodes.push(plan);
    plan.Plans?.forEach(visit);
  };
  visit(rows[0]?.['QUERY PLAN'][0]?.Plan ?? ({} as Plan));
  const ofTransfers = nodes.filter((plan) => plan['Relation Name'] === 'ledger_transfers');
  return {
    answered: answered.length,
    indexes: nodes.flatMap((plan) => plan['Index Name'] ?? []),
    transfers: ofTransfers.reduce((sum, plan) => sum + plan['Actual Rows'] * plan['Actual Loops'], 0),
  };
}

test('lists the transfers of one key through its index', async () => {
  const { answered, indexes, transfers } = await readBy(() =>
    listUserTransfers(db, { ...selection, before: null, limit: 51 }),
  );
  expect(answered).toBe(51);
  expect(transfers).toBeLessThan(TRANSFERS / 20);
  expect(indexes).toContain('ledger_transfers_by_key');
  expect(indexes).toContain('ledger_transfers_refunds');
});

test('sums one key without reading sealed transfers, except on the first and last day', async () => {
  const sums = (input: typeof selection) =>
    readBy(() => readSnapshot(db, (tx) => sumUserTransfers(tx, input)));
  expect(await sums(selection)).toMatchObject({ answered: 1, transfers: 0 });
  const { answered, transfers } = await sums({ ...selection, ...period });
  expect(answered).toBe(1);
  expect(transfers).toBeLessThan(OF_ENDS);
});

test('sums every key without reading more transfers', async () => {
  const { answered, transfers } = await readBy(() =>
    readSnapshot(db, (tx) => sumSpendByKey(tx, { userId: 'ada', ...period })),
  );
  expect(answered).toBe(7);
  expect(transfers).toBeLessThan(OF_ENDS);
});

test('sums daily spending without reading sealed transfers, except those between a local and a UTC midnight', async () => {
  const { answered, indexes, transfers } = await readBy(() =>
    readSnapshot(db, (tx) => sumSpendByDay(tx, { userId: 'ada', ...period })),
  );
  expect(answered).toBe(31);
  expect(indexes).toContain('ledger_transfers_by_debit');
  expect(transfers).toBeLessThan((31 * 7) / 3);
});

test('sums the sends of a day without reading earlier sends or other transfers', async () => {
  expect(await sumSentInDay(db, 'eve')).toBe(47n);
  const [plan] = await plansOf(recording, () => sumSentInDay(db, 'eve'), { analyze: true });
  expect(plan).toMatch(/ledger_transfers_sent_by .*rows=47\b/);
  expect(plan).not.toContain('Rows Removed by Filter');
});

test("lists one user's sends through the same index, page by page", async () => {
  const wanted = { userId: 'eve', limit: 3 };
  const [plan] = await plansOf(recording, () => selectSends(db, { ...wanted, before: 10n ** 17n }));
  expect(plan).toContain('Index Scan Backward using ledger_transfers_sent_by');
  expect(plan).not.toContain('Seq Scan on ledger_transfers');
  const paged = [];
  for (let before = 10n ** 17n; ; ) {
    const sends = await selectSends(db, { userId: 'eve', limit: 400, before });
    paged.push(...sends.map(({ seq }) => seq));
    before = sends.at(-1)?.seq ?? 0n;
    if (sends.length < 400) break;
  }
  expect([paged.length, new Set(paged).size]).toEqual([1500, 1500]);
});
