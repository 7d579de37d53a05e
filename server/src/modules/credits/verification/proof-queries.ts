import type { LedgerProof } from '@bakehouse/contract/credits';
import { type RawBuilder, sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../../platform/db/database.ts';
import { oneOf } from '../ledger/ledger-answers.ts';
import { LAST_SEQ } from './chain-queries.ts';
import { FIRST_HASH, type SealableTransfer, sealableColumns, sqlHash } from './hash-transfer.ts';

type Reader = Database | Transaction;

/** All transfers, summed one by one. */
const summedTransfers = sql`ledger_sum_transfers(0, ${LAST_SEQ})`;

/** The same out of what the sealer has summed, and the transfers after the newest seal. */
const summedTotals = (headSeq: bigint) => sql`(
  select account_id, counterpart, paid, received, transfers from ledger_sealed_totals
  union all
  select * from ledger_sum_transfers(${headSeq}, ${LAST_SEQ})
)`;

/** Where sums of transfers come from: all transfers, or with the newest seal's seq, the stored totals. */
const sums = (headSeq: bigint | null) => (headSeq === null ? summedTransfers : summedTotals(headSeq));

/** A user whose row is not what it must be, and how many of them there are. */
export type Wrong = { count: number; first: string | null };

export type AccountProof = {
  accounts: number;
  sumOfBalances: bigint;
  transfers: number;
  openHolds: number;
  wrongBalances: Wrong;
  wrongHolds: Wrong;
  wrongGiven: Wrong;
  overspent: Wrong;
};

/** Every account with its own totals and, beside them, the same numbers from its transfers, open holds and portions. */
const accountSums = (headSeq: bigint | null): RawBuilder<unknown> => sql`(
  select a.id, a.kind, a.owner_user_id, a.credits_posted, a.debits_posted, a.debits_pending, a.given,
    coalesce(e.received, 0) as credits_summed, coalesce(e.paid, 0) as debits_summed,
    coalesce(h.pending, 0) as pending_summed, coalesce(g.remaining, 0) as given_summed, coalesce(e.transfers, 0) as transfers,
    coalesce(a.credits_posted, e.received, 0) - coalesce(a.debits_posted, e.paid, 0) as balance
  from ledger_accounts a
  left join (
    select account_id, sum(received)::bigint as received, sum(paid)::bigint as paid, sum(transfers)::bigint as transfers
    from ${sums(headSeq)} s group by account_id
  ) e on e.account_id = a.id
  left join (
    select debit_account_id, sum(amount)::bigint as pending
    from ledger_holds where status = 'pending' group by debit_account_id
  ) h on h.debit_account_id = a.id
  left join (
    select account_id, sum(remaining)::bigint as remaining from ledger_given group by account_id
  ) g on g.account_id = a.id
)`;

/** Counts the accounts that are wrong, in the database: how many there are does not matter to our memory. */
export async function proveAccounts(db: Reader, headSeq: bigint | null): Promise<AccountProof> {
  const wrong = (name: string, condition: RawBuilder<unknown>) => sql`
    count(*) filter (where kind = 'user' and (${condition}))::int as ${sql.ref(`${name}_count`)},
    min(id) filter (where kind = 'user' and (${condition})) as ${sql.ref(`${name}_first`)}`;
  const { rows } = await sql<{
    accounts: number;
    sum_of_balances: string;
    transfers: number;
    open_holds: number;
    balances_count: number;
    balances_first: string | null;
    holds_count: number;
    holds_first: string | null;
    given_count: number;
    given_first: string | null;
    overspent_count: number;
    overspent_first: string | null;
  }>`
    select count(*)::int as accounts, coalesce(sum(balance), 0)::text as sum_of_balances,
      (coalesce(sum(transfers), 0) / 2)::int as transfers,
      (select count(*)::int from ledger_holds where status = 'pending') as open_holds,
      ${wrong('balances', sql`credits_posted <> credits_summed or debits_posted <> debits_summed`)},
      ${wrong('holds', sql`debits_pending <> pending_summed`)},
      ${wrong('given', sql`given <> given_summed`)},
      ${wrong('overspent', sql`credits_summed - debits_summed - pending_summed < 0`)}
    from ${accountSums(headSeq)} accounts`.execute(db);
  const row = oneOf(rows);
  return {
    accounts: row.accounts,
    sumOfBalances: BigInt(row.sum_of_balances),
    transfers: row.transfers,
    openHolds: row.open_holds,
    wrongBalances: { count: row.balances_count, first: row.balances_first },
    wrongHolds: { count: row.holds_count, first: row.holds_first },
    wrongGiven: { count: row.given_count, first: row.given_first },
    overspent: { count: row.overspent_count, first: row.overspent_first },
  };
}

export type AccountLine = {
  id: string;
  kind: string;
  owner: string | null;
  balance: bigint;
  debits_pending: bigint | null;
  transfers: number;
};

/**
 * The system's accounts, and of users those with the highest balances. A user's account keeps its balance itself, so
 * only what is listed is summed, however many users there are.
 */
export async function listLargestAccounts(
  db: Reader,
  { headSeq, usersMax }: { headSeq: bigint; usersMax: number },
): Promise<AccountLine[]> {
  const { rows } = await sql<AccountLine>`
    with listed as materialized (
      select * from ledger_accounts where kind <> 'user'
      union all
      (select * from ledger_accounts where kind = 'user'
        order by credits_posted - debits_posted desc, id limit ${usersMax})
    ), sums as (
      select account_id, sum(received) as received, sum(paid) as paid, sum(transfers) as transfers
      from (
        select account_id, received, paid, transfers
        from ledger_sealed_totals where account_id = any(array(select id from listed))
        union all
        select account_id, received, paid, transfers from ledger_sum_transfers(${headSeq}, ${LAST_SEQ})
      ) totals
      group by account_id
    )
    select a.id, a.kind, u.username as owner, a.debits_pending, coalesce(s.transfers, 0)::int as transfers,
      (coalesce(a.credits_posted, s.received, 0) - coalesce(a.debits_posted, s.paid, 0))::bigint as balance
    from listed a
    left join sums s on s.account_id = a.id
    left join users u on u.id = a.owner_user_id
    order by a.kind = 'user', case when a.kind = 'user' then a.credits_posted - a.debits_posted end desc, a.id`.execute(
    db,
  );
  return rows;
}

export async function countAccounts(db: Reader): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from ledger_accounts`.execute(
    db,
  );
  return oneOf(rows).count;
}

/** Settled holds and settling transfers that do not agree; only those of transfers above `afterSeq`, where it is given. */
export async function countWrongSettlements(db: Reader, afterSeq: bigint | null): Promise<number> {
  const { rows } =
    afterSeq === null
      ? await sql<{ wrong: number }>`
          select count(*)::int as wrong
          from ledger_holds h
          full join (select hold_id, amount from ledger_transfers where hold_id is not null) t on t.hold_id = h.id
          where h.settled_amount is distinct from t.amount`.execute(db)
      : await sql<{ wrong: number }>`
          select count(*)::int as wrong
          from ledger_transfers t left join ledger_holds h on h.id = t.hold_id
          where t.seq > ${afterSeq} and t.hold_id is not null and h.settled_amount is distinct from t.amount`.execute(
          db,
        );
  return oneOf(rows).wrong;
}

/**
 * Users whose portions of given credits are not what the transfers say that came and went, and portions that
 * are not what their transfer brought.
 */
export async function countWrongPortions(db: Reader): Promise<number> {
  const { rows } = await sql<{ wrong: number }>`
    select (
      select count(*) from ledger_given g join ledger_transfers t on t.id = g.transfer_id
      where (g.account_id, g.amount) is distinct from (t.credit_account_id, t.given)
    )::int + (
      select count(*) from (
        select account_id, sum(given) as given from (
          select id as account_id, -given as given from ledger_accounts where kind = 'user'
          union all
          select account_id, amount from ledger_given where transfer_id is null
          union all
          select credit_account_id, given from ledger_transfers where given > 0 and credit_account_id like 'user:%'
          union all
          select debit_account_id, -given from ledger_transfers where given > 0 and debit_account_id like 'user:%'
        ) movements
        group by account_id
      ) accounts
      where given <> 0
    )::int as wrong`.execute(db);
  return oneOf(rows).wrong;
}

/** Transfers after a seal that brought given credits, and do not have a portion of as many. */
export async function countWrongNewPortions(db: Reader, afterSeq: bigint): Promise<number> {
  const { rows } = await sql<{ wrong: number }>`
    select count(*)::int as wrong
    from ledger_transfers t left join ledger_given g on g.transfer_id = t.id
    where t.seq > ${afterSeq} and t.given > 0 and t.credit_account_id like 'user:%'
      and (g.account_id, g.amount) is distinct from (t.credit_account_id, t.given)`.execute(db);
  return oneOf(rows).wrong;
}

/**
 * Rows of the sealer's totals, in all, by day and by key, that are not the sums of the transfers up to the newest seal.
 * Those by day and key are proven against the transfers, and then those in all against the days.
 */
export async function countWrongTotals(db: Reader, headSeq: bigint): Promise<number> {
  const wrongDays = await countWrongDays(db, headSeq);
  if (wrongDays > 0) return wrongDays;
  const wrong = [
    { table: 'ledger_sealed_totals', days: 'ledger_daily', by: ['account_id', 'counterpart'] },
    { table: 'ledger_key_totals', days: 'ledger_key_daily', by: ['account_id', 'key_id', 'counterpart'] },
  ].map(({ table, days, by }) => {
    const columns = sql.join(by.map((column) => sql.ref(column)));
    return sql`(
      select count(*) from ${sql.table(table)} s
      full join (
        select ${columns}, sum(paid) as paid, sum(received) as received, sum(transfers) as transfers
        from ${sql.table(days)} group by ${columns}
      ) t using (${columns})
      where (s.paid, s.received, s.transfers) is distinct from (t.paid, t.received, t.transfers)
    )::int`;
  });
  const { rows } = await sql<{ wrong: number }>`select ${sql.join(wrong, sql` + `)} as wrong`.execute(db);
  return oneOf(rows).wrong;
}

/**
 * The same of `ledger_daily` and `ledger_key_daily`, in one pass over the transfers: from these everything is taken that
 * the tables say, with each key apart and what is left of a day without one, and nothing must remain.
 */
async function countWrongDays(db: Reader, headSeq: bigint): Promise<number> {
  const { rows } = await sql<{ wrong: number }>`
    select count(*)::int as wrong from (
      select from (
        select account_id, key_id, day, counterpart, paid, received, transfers from ledger_sides(0, ${headSeq})
        union all
        select account_id, null, day, counterpart, -paid, -received, -transfers from ledger_daily
        union all
        select account_id, null, day, counterpart, paid, received, transfers from ledger_key_daily
        union all
        select account_id, key_id, day, counterpart, -paid, -received, -transfers from ledger_key_daily
      ) moves
      group by account_id, key_id, day, counterpart
      having sum(paid) <> 0 or sum(received) <> 0 or sum(transfers) <> 0 or bool_or(transfers = 0)
    ) remaining`.execute(db);
  return oneOf(rows).wrong;
}

/** The seals there are; or, out of the sealer's totals, the transfers that it has counted. */
export async function countSealed(db: Reader, { counted }: { counted: boolean }): Promise<number> {
  const { rows } = counted
    ? await sql<{ sealed: number }>`
        select (coalesce(sum(transfers), 0) / 2)::int as sealed from ledger_sealed_totals`.execute(db)
    : await sql<{ sealed: number }>`select count(*)::int as sealed from ledger_seals`.execute(db);
  return oneOf(rows).sealed;
}

/** A seal's place in the chain. */
type Place = { seq: bigint; hash: string };

/**
 * Recomputes the seals after one seq and up to another, in the database: millions are proven without being
 * moved. Each is computed from the seal before it as it is stored, so that parts of the chain can be proven at
 * the same time. `doubtful` is the first that differs, or whose transfer is gone; `hashTransfer` decides.
 * `skipped` are the transfers that have no seal.
 */
export async function checkSeals(
  db: Reader,
  { after, upTo }: { after: bigint; upTo: bigint },
): Promise<{ doubtful: bigint | null; skipped: number }> {
  const { rows } = await sql<{ doubtful: bigint | null; skipped: number }>`
    select min(seq) filter (where expected is distinct from hash) as doubtful,
      count(*) filter (where seq is null)::int as skipped
    from (
      select s.seq, s.hash, ${sqlHash(sql`s.previous`)} as expected
      from (
        select seq, hash, lag(hash, 1, coalesce(
          (select p.hash from ledger_seals p where p.seq <= ${after} order by p.seq desc limit 1), ${FIRST_HASH}
        )) over (order by seq) as previous
        from ledger_seals where seq > ${after} and seq <= ${upTo}
      ) s
      full join (select * from ledger_transfers where seq > ${after} and seq <= ${upTo}) t on t.seq = s.seq
    ) seals`.execute(db);
  return oneOf(rows);
}

/** One seal with its transfer, null where that is gone, and the seal before it, null for the first. */
export async function findSeal(
  db: Reader,
  seq: bigint,
): Promise<{ hash: string; previous: string | null; transfer: SealableTransfer | null }> {
  const { rows } = await sql<SealableTransfer & { hash: string; previous: string | null; gone: boolean }>`
    select s.hash, t.seq is null as gone, ${sealableColumns},
      (select p.hash from ledger_seals p where p.seq < s.seq order by p.seq desc limit 1) as previous
    from ledger_seals s left join ledger_transfers t on t.seq = s.seq
    where s.seq = ${seq}`.execute(db);
  const { hash, previous, gone, ...transfer } = oneOf(rows);
  return { hash, previous, transfer: gone ? null : transfer };
}

/** A place up to which everything was proven, and the digest of the sealer's totals there. */
export type Verified = Place & { totalsDigest: string };

/** The last one; undefined before the first. */
export async function findLastVerified(db: Reader): Promise<Verified | undefined> {
  return db
    .selectFrom('ledger_verifications')
    .select(['seq', 'hash', 'totals_digest as totalsDigest'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export async function insertVerified(tx: Transaction, { seq, hash, totalsDigest }: Verified): Promise<void> {
  await tx.insertInto('ledger_verifications').values({ seq, hash, totals_digest: totalsDigest }).execute();
}

const proofs = sql`hashtextextended('a proof of the ledger', 0)`;

/** One proof at a time, over all processes, until the transaction ends. */
export async function lockProofs(tx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${proofs})`.execute(tx);
}

/** The same where no proof is under way; else false. */
export async function tryLockProofs(tx: Transaction): Promise<boolean> {
  const { rows } = await sql<{ ours: boolean }>`select pg_try_advisory_xact_lock(${proofs}) as ours`.execute(
    tx,
  );
  return rows[0]?.ours === true;
}

/** The time now, which is before all that the proof will see. */
export async function beginProof(tx: Transaction): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(tx);
  return oneOf(rows).at;
}

/** What a proof found, as the wire has it. */
type ProofReport = Omit<LedgerProof, 'proved_at'>;

/** The last proof, whoever made it; old once it is worth making another. */
export async function findLastProof(
  db: Reader,
): Promise<{ provedAt: Date; report: ProofReport; isOld: boolean } | undefined> {
  const row = await db
    .selectFrom('ledger_last_proof')
    .select(['proved_at', 'report', sql<boolean>`proved_at < now() - interval '1 minute'`.as('is_old')])
    .executeTakeFirst();
  return row && { provedAt: row.proved_at, report: row.report as ProofReport, isOld: row.is_old };
}

export async function upsertLastProof(
  tx: Transaction,
  { provedAt, report }: { provedAt: Date; report: ProofReport },
): Promise<void> {
  const values = { proved_at: provedAt, report: toJson(report) };
  await tx
    .insertInto('ledger_last_proof')
    .values(values)
    .onConflict((conflict) => conflict.column('single').doUpdateSet(values))
    .execute();
}

/** The hash of the seal with this seq; undefined where there is none. */
export async function findSealHash(db: Reader, seq: bigint): Promise<string | undefined> {
  const seal = await db.selectFrom('ledger_seals').select('hash').where('seq', '=', seq).executeTakeFirst();
  return seal?.hash;
}

/**
 * A digest of the sealer's totals as they were at the seal `seq`: those of now less what the transfers after it
 * and up to the newest seal moved. It does not depend on the order of the rows, so it needs no memory.
 */
export async function digestTotals(
  db: Reader,
  { seq, headSeq }: { seq: bigint; headSeq: bigint },
): Promise<string> {
  const { rows } = await sql<{ digest: string }>`
    select count(*) || ':' || coalesce(sum(('x' || left(encode(sha256(convert_to(
      concat_ws(' ', account_id, counterpart, paid, received, transfers), 'UTF8')), 'hex'), 16))::bit(64)::bigint), 0) as digest
    from (
      select account_id, counterpart, sum(paid)::bigint as paid, sum(received)::bigint as received,
        sum(transfers)::bigint as transfers
      from (
        select account_id, counterpart, paid, received, transfers from ledger_sealed_totals
        union all
        select account_id, counterpart, -paid, -received, -transfers from ledger_sum_transfers(${seq}, ${headSeq})
      ) moves
      group by account_id, counterpart
      having sum(transfers) <> 0 or sum(paid) <> 0 or sum(received) <> 0
    ) totals`.execute(db);
  return oneOf(rows).digest;
}
