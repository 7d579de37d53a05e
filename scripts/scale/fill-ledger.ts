import { sql } from 'kysely';
import {
  addToSealedSums,
  findChainHead,
  lockChain,
} from '../../server/src/modules/billing/verification/chain-queries.ts';
import { FIRST_HASH, sqlFields } from '../../server/src/modules/billing/verification/hash-transfer.ts';
import type { Database, Transaction } from '../../server/src/platform/db/database.ts';
import { inTransaction } from '../../server/src/platform/db/in-transaction.ts';

/** Number of rows per statement. */
const INSERT_BATCH = 250_000;
const SEAL_BATCH = 50_000;

type Options = {
  /** Users who take part. The first one takes part in every tenth transfer. */
  userIds: string[];
  /** The first user's API key, which half of the user's charges have. */
  keyId: string;
  count: number;
  print: (done: number, of: string) => void;
};

/** Inserts transfers, half a minute apart, up to now: grants, then charges, refunds and sent credits. */
export async function fillLedger(db: Database, { userIds, keyId, count, print }: Options): Promise<void> {
  for (let from = 0; from < count; from += INSERT_BATCH) {
    const upTo = Math.min(from + INSERT_BATCH, count);
    await inTransaction(db, (tx) => insertTransfers(tx, { userIds, keyId, from, upTo, count }));
    print(upTo, 'transfers');
  }
}

/** Seals all transfers. */
export async function sealAll(db: Database, print: Options['print']): Promise<void> {
  let sealed = 0;
  for (;;) {
    const batch = await inTransaction(db, sealBatch);
    if (batch === 0) return;
    sealed += batch;
    print(sealed, 'seals');
  }
}

async function insertTransfers(
  tx: Transaction,
  { userIds, keyId, from, upTo, count }: Omit<Options, 'print'> & { from: number; upTo: number },
): Promise<void> {
  await skipForeignKeys(tx);
  const users = userIds.length;
  await sql`
    with planned as (
      select i, case when i < ${users} or i % 10 = 0 then i % ${users} * (i < ${users})::int
        else 1 + i * 7919 % (${users} - 1) end as payer, i / 10 % 4 as turn
      from generate_series(${from}::bigint, ${upTo}::bigint - 1) i
    ), moved as (
      select i, payer, turn, 'user:' || (${userIds}::text[])[payer + 1] as own,
        case
          when i < ${users} then 'grants'
          when turn = 1 then 'user:' || (${userIds}::text[])[(payer + 1 + i * 31 % (${users} - 1)) % ${users} + 1]
          else 'revenue:' || (array['llm_inference', 'deployment', 'fine_tuning'])[i % 3 + 1]
        end as other,
        i < ${users} or (turn = 3 and i % 50 = 7) as comes_in
      from planned
    ), inserted as (
      insert into ledger_transfers (debit_account_id, credit_account_id, amount, kind, description, refs, created_at)
      select case when comes_in then other else own end, case when comes_in then own else other end,
        case when i < ${users} then 1000000000000 else 10000 + i % 1000 end,
        case when i < ${users} then 'grant' when turn = 1 then 'transfer' when comes_in then 'refund' else 'charge' end,
        case when turn = 1 then 'Bagels from one to another' else 'Chat with Crumb' end,
        case when turn = 1 or i < ${users} then '{}' else jsonb_build_object('asset_name', 'Crumb') end
          || case when payer = 0 and i >= ${users} and turn <> 1 and not comes_in and i / 40 % 2 = 0
            then jsonb_build_object('key_id', ${keyId}::text) else '{}' end,
        now() - (${count} - i) * interval '30 seconds'
      from moved order by i
      returning debit_account_id, credit_account_id, amount
    )
    update ledger_accounts a set
      debits_posted = a.debits_posted + sides.paid, credits_posted = a.credits_posted + sides.received
    from (
      select account_id, sum(paid)::bigint as paid, sum(received)::bigint as received
      from (
        select debit_account_id as account_id, amount as paid, 0 as received from inserted
        union all select credit_account_id, 0, amount from inserted
      ) moves group by account_id
    ) sides
    where a.id = sides.account_id and a.kind = 'user'`.execute(tx);
}

/** Seals like the sealer, but in larger batches and without waiting, because nothing else moves credits. */
async function sealBatch(tx: Transaction): Promise<number> {
  await skipForeignKeys(tx);
  await lockChain(tx);
  const head = (await findChainHead(tx)) ?? { seq: 0n, hash: FIRST_HASH };
  const { rows } = await sql<{ last: bigint | null; count: number }>`
    select max(seq) as last, count(*)::int as count
    from (select seq from ledger_transfers where seq > ${head.seq} order by seq limit ${SEAL_BATCH}) batch`.execute(
    tx,
  );
  const { last = null, count = 0 } = rows[0] ?? {};
  if (last === null) return 0;
  await sql`
    do $do$
    declare
      v_hash text := ${sql.lit(head.hash)};
      v_seqs bigint[] := '{}';
      v_hashes text[] := '{}';
      v_next record;
    begin
      for v_next in
        select t.seq, ${sqlFields} as fields from ledger_transfers t
        where t.seq > ${sql.lit(head.seq.toString())} and t.seq <= ${sql.lit(last.toString())} order by t.seq
      loop
        v_hash := encode(sha256(convert_to('["' || v_hash || v_next.fields, 'UTF8')), 'hex');
        v_seqs := v_seqs || v_next.seq;
        v_hashes := v_hashes || v_hash;
      end loop;
      insert into ledger_seals (seq, hash) select * from unnest(v_seqs, v_hashes);
    end $do$`.execute(tx);
  await addToSealedSums(tx, { after: head.seq, upTo: last });
  return count;
}

/** Disables slow checks of foreign keys, for rows that are known to be valid. Requires a superuser. */
export async function skipForeignKeys(tx: Transaction): Promise<void> {
  await sql`
    select set_config('session_replication_role', 'replica', true)
    where current_setting('is_superuser') = 'on'`.execute(tx);
}
