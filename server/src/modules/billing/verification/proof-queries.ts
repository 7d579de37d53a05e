import type { LedgerProof } from '@bakehouse/contract/credits';
import { type RawBuilder, sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../../platform/db/database.ts';
import { oneOf } from '../ledger/ledger-answers.ts';
import { LAST_SEQ, type Place } from './chain-queries.ts';
import { FIRST_HASH, type SealableTransfer, sealableColumns, sqlHash } from './hash-transfer.ts';

type Reader = Database | Transaction;

/** Sums over all transfers. */
const summedTransfers = sql`ledger_sum_transfers(0, ${LAST_SEQ})`;

/** The same sums, from the sealer's totals plus the transfers after the newest seal. */
const summedTotals = (headSeq: bigint) => sql`(
  select account_id, counterpart, paid, received, transfers from ledger_sealed_totals
  union all
  select * from ledger_sum_transfers(${headSeq}, ${LAST_SEQ})
)`;

/**
 * Returns the source of the sums: the sealer's totals if `headSeq` is given, the seq of the newest seal.
 * Otherwise all transfers.
 */
const sums = (headSeq: bigint | null) => (headSeq === null ? summedTransfers : summedTotals(headSeq));

/** The number of user accounts with an error, and the first of them. */
type Wrong = { count: number; first: string | null };

export type AccountProof = {
  accounts: number;
  sumOfBalances: bigint;
  transfers: number;
  openHolds: number;
  balances: Wrong;
  holds: Wrong;
  given: Wrong;
  available: Wrong;
};

/** Every account with its stored totals next to the totals of its transfers, open holds and portions. */
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

/**
 * Counts all accounts and those with an error. Runs inside the database, so that the ledger may have any
 * size.
 */
export async function proveAccounts(db: Reader, headSeq: bigint | null): Promise<AccountProof> {
  const wrong = (condition: RawBuilder<unknown>) => sql`jsonb_build_object(
    'count', count(*) filter (where kind = 'user' and (${condition})),
    'first', min(id) filter (where kind = 'user' and (${condition})))`;
  const { rows } = await sql<Omit<AccountProof, 'sumOfBalances'> & { sum: string }>`
    select count(*)::int as accounts, coalesce(sum(balance), 0)::text as sum,
      (coalesce(sum(transfers), 0) / 2)::int as transfers,
      (select count(*)::int from ledger_holds where status = 'pending') as "openHolds",
      ${wrong(sql`credits_posted <> credits_summed or debits_posted <> debits_summed`)} as balances,
      ${wrong(sql`debits_pending <> pending_summed`)} as holds,
      ${wrong(sql`given <> given_summed`)} as given,
      ${wrong(sql`credits_summed - debits_summed - pending_summed < 0`)} as available
    from ${accountSums(headSeq)} accounts`.execute(db);
  const { sum, ...proof } = oneOf(rows);
  return { ...proof, sumOfBalances: BigInt(sum) };
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
 * Returns the system accounts, and the users with the highest stored balances. Only their transfers are
 * summed.
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

/**
 * Counts holds whose settled amount differs from their transfer's amount. A missing hold or transfer also
 * counts.
 */
export async function countWrongSettlements(db: Reader): Promise<number> {
  const { rows } = await sql<{ wrong: number }>`
    select count(*)::int as wrong
    from ledger_holds h
    full join (select hold_id, amount from ledger_transfers where hold_id is not null) t on t.hold_id = h.id
    where h.settled_amount is distinct from t.amount`.execute(db);
  return oneOf(rows).wrong;
}

/** Counts errors in the portions of given credits, by comparing them with the transfers. */
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

/**
 * Counts rows in the sealer's totals that differ from the sealed transfers. First compares the sums by day
 * and key with the transfers, then the totals with the sums by day.
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
 * Counts wrong rows of `ledger_daily` and `ledger_key_daily` in one pass. Subtracts the tables' rows from the
 * transfers, for each key, and for the transfers of a day without a key. If nothing is wrong, every
 * difference is zero.
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

export async function countSeals(db: Reader): Promise<number> {
  const { rows } = await sql<{ seals: number }>`select count(*)::int as seals from ledger_seals`.execute(db);
  return oneOf(rows).seals;
}

/**
 * Recomputes the seals above `after` and up to `upTo` inside the database, so that millions of rows need not
 * be transferred. Computes each seal from the stored seal before it, so that parts of the chain can be
 * checked in parallel. `suspect` is the first seal that differs or has no transfer; the caller checks it with
 * `hashTransfer`. `skipped` is the number of unsealed transfers.
 */
export async function checkSeals(
  db: Reader,
  { after, upTo }: { after: bigint; upTo: bigint },
): Promise<{ suspect: bigint | null; skipped: number }> {
  const { rows } = await sql<{ suspect: bigint | null; skipped: number }>`
    select min(seq) filter (where expected is distinct from hash) as suspect,
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

/** Returns a seal, its transfer (null if missing), and the seal before it (null for the first). */
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

const proofs = sql`hashtextextended('a proof of the ledger', 0)`;

/** Locks proofs in all processes until the transaction ends. */
export async function lockProofs(tx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${proofs})`.execute(tx);
}

/** Like `lockProofs`, but returns false if a proof is running. */
export async function tryLockProofs(tx: Transaction): Promise<boolean> {
  const { rows } = await sql<{ ours: boolean }>`select pg_try_advisory_xact_lock(${proofs}) as ours`.execute(
    tx,
  );
  return rows[0]?.ours === true;
}

/** Returns the current time. Everything that the proof reads is at least as new. */
export async function startProof(tx: Transaction): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(tx);
  return oneOf(rows).at;
}

/** The result of a proof in the API's format. */
type ProofReport = Omit<LedgerProof, 'proved_at'>;
/** Also contains the duration of the proof, and the newest seal that any proof has verified. */
type StoredReport = ProofReport & { seconds?: number; proven?: { seq: string; hash: string } | null };

/**
 * A proof becomes old after this multiple of its duration, at least a minute. Proofs therefore take at most 4
 * % of the time.
 */
const REST_FACTOR = 25;

type LastProof = { provedAt: Date; report: ProofReport; proven: Place | null; isOld: boolean };

/** Returns the last proof of any process. `isOld` is true if a new one may be made. */
export async function findLastProof(db: Reader): Promise<LastProof | undefined> {
  const row = await db
    .selectFrom('ledger_last_proof')
    .select(['proved_at', 'report'])
    .select(
      sql<boolean>`extract(epoch from now() - proved_at)
        > greatest(60, ${REST_FACTOR} * coalesce((report ->> 'seconds')::float8, 0))`.as('is_old'),
    )
    .executeTakeFirst();
  if (!row) return undefined;
  const { seconds: _, proven, ...report } = row.report as StoredReport;
  return {
    provedAt: row.proved_at,
    report,
    proven: proven ? { seq: BigInt(proven.seq), hash: proven.hash } : null,
    isOld: row.is_old,
  };
}

export async function upsertLastProof(
  tx: Transaction,
  {
    provedAt,
    report,
    seconds,
    proven,
  }: Pick<LastProof, 'provedAt' | 'report' | 'proven'> & { seconds: number },
): Promise<void> {
  const stored = { ...report, seconds, proven: proven && { ...proven, seq: proven.seq.toString() } };
  const values = { proved_at: provedAt, report: toJson(stored) };
  await tx
    .insertInto('ledger_last_proof')
    .values(values)
    .onConflict((conflict) => conflict.column('single').doUpdateSet(values))
    .execute();
}
