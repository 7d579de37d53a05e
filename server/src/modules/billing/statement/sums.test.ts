import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { readSnapshot } from '../../../platform/db/read-snapshot.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { userAccount } from '../ledger/accounts.ts';
import { insertTestUser } from '../testing/test-user.ts';
import { sealTransfers } from '../verification/chain.ts';
import { sumSpendByDay, sumSpendByKey, sumUserTransfers } from './sum-queries.ts';

const { db } = await testDatabase();
const [nightly, notebook] = [randomUUID(), randomUUID()];
const keys = [nightly, notebook, null];

const periods = [
  {},
  { from: '2030-01-03', to: '2030-01-08' },
  { from: '2030-01-03', to: '2030-01-03' },
  { from: '2030-01-05' },
  { to: '2030-01-11' },
  { from: '2030-02-01' },
];
const timeZones = ['UTC', 'Asia/Kolkata', 'America/New_York', 'Pacific/Kiritimati'];
type Asked = { from?: string; to?: string; timeZone: string };
const asked: Asked[] = timeZones.flatMap((timeZone) => periods.map((period) => ({ ...period, timeZone })));

let userId: string;

beforeAll(async () => {
  userId = await insertTestUser(db);
  const account = userAccount(userId);
  const friend = userAccount(await insertTestUser(db));
  // Transfers about every five hours, and some around a midnight that occurs twice in Havana because the
  // clock is set back.
  const from = Date.parse('2030-01-01T00:30:00Z');
  const twice = Date.parse('2030-11-03T02:15:00Z');
  const moments = [
    ...Array.from({ length: 10 }, (_, i) => twice + i * 1_800_000),
    ...Array.from({ length: 60 }, (_, i) => from + i * 5.3 * 3_600_000),
  ];
  for (const [i, moment] of moments.entries()) {
    const at = new Date(moment);
    const kind = i % 7 === 3 ? 'refund' : i % 11 === 5 ? 'transfer' : 'charge';
    const other = kind === 'transfer' ? friend : 'revenue:llm_inference';
    const [debit, credit] = kind === 'refund' ? [other, account] : [account, other];
    const keyId = keys[i % 3] ?? null;
    await sql`
      insert into ledger_transfers (debit_account_id, credit_account_id, amount, kind, description, refs, created_at)
      values (${debit}, ${credit}, ${2n ** BigInt(i % 20)}, ${kind}, 'Chat',
        jsonb_strip_nulls(jsonb_build_object('key_id', ${keyId}::text)), ${at})`.execute(db);
    if (i === 50) await sealTransfers(db);
  }
});

/**
 * Sums spending and sends by reading every transfer. With a `keyId`, only for this key; with null, only for
 * transfers without a key.
 */
async function plainSums({ from, to, timeZone }: Asked, keyId?: string | null) {
  const account = userAccount(userId);
  const { rows } = await sql<{ spent: bigint; sent: bigint }>`
    select
      coalesce(sum(case when debit_account_id = ${account} then amount else -amount end)
        filter (where kind <> 'transfer'), 0)::bigint as spent,
      coalesce(sum(amount) filter (where kind = 'transfer'), 0)::bigint as sent
    from ledger_transfers
    where (debit_account_id = ${account} or (credit_account_id = ${account} and kind = 'refund'))
      and (${keyId === undefined} or refs ->> 'key_id' is not distinct from ${keyId ?? null}::text)
      and (${from ?? null}::date is null
        or created_at >= ${from ?? null}::date::timestamp at time zone ${timeZone}::text)
      and (${to ?? null}::date is null
        or created_at < (${to ?? null}::date + 1)::timestamp at time zone ${timeZone}::text)`.execute(db);
  return rows[0] ?? { spent: 0n, sent: 0n };
}

test('counts each transfer once, in sealed whole days, at the ends of the period, or unsealed', async () => {
  for (const period of asked) {
    for (const keyId of [undefined, nightly, notebook]) {
      const sums = await readSnapshot(db, (tx) => sumUserTransfers(tx, { userId, keyId, ...period }));
      const paidTo = (counterpart: string) => {
        const { paid = 0n, received = 0n } = sums.find((sum) => sum.counterpart === counterpart) ?? {};
        return paid - received;
      };
      expect({ spent: paidTo('revenue:llm_inference'), sent: paidTo('users') }).toEqual(
        await plainSums(period, keyId),
      );
    }
  }
});

test('sums the spending of each key, and of calls without a key, correctly', async () => {
  for (const period of asked) {
    const found = await readSnapshot(db, (tx) => sumSpendByKey(tx, { userId, ...period }));
    const plain = await Promise.all(
      keys.map(async (key_id) => {
        const { spent: amount, sent } = await plainSums(period, key_id);
        return { key_id, amount, sent };
      }),
    );
    const known = plain.filter(({ amount, sent }) => amount !== 0n || sent !== 0n);
    expect(new Set(found)).toEqual(new Set(known));
  }
});

test("sums the spending of each of the reader's days correctly", async () => {
  const account = userAccount(userId);
  for (const timeZone of [...timeZones, 'America/Havana']) {
    for (const { from, to } of [
      { from: '2030-01-03', to: '2030-01-08' },
      { from: '2030-01-12', to: '2030-01-12' },
      { from: '2030-01-01', to: '2030-12-31' },
    ]) {
      const { rows } = await sql`
        select to_char(created_at at time zone ${timeZone}::text, 'YYYY-MM-DD') as date,
          'revenue:llm_inference' as revenue_account_id,
          sum(case when debit_account_id = ${account} then amount else -amount end)::bigint as amount
        from ledger_transfers
        where (debit_account_id = ${account} and kind = 'charge' or credit_account_id = ${account} and kind = 'refund')
          and (created_at at time zone ${timeZone}::text)::date between ${from} and ${to}
        group by 1 order by 1`.execute(db);
      expect(rows.length).toBeGreaterThan(0);
      const found = await readSnapshot(db, (tx) => sumSpendByDay(tx, { userId, from, to, timeZone }));
      expect(found, `${timeZone} ${from}`).toEqual(rows);
    }
  }
});
