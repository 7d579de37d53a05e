import { sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { userAccount } from './accounts.ts';
import type { SealableTransfer } from './hash-transfer.ts';
import type { TransferKind } from './ledger.ts';

type Reader = Database | Transaction;

/** Id of the user whose username, email address or id this is. */
export async function findUserId(db: Reader, handle: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from users where username = lower(${handle}) or email = lower(${handle}) or id = ${handle}`.execute(
    db,
  );
  return rows[0]?.id;
}

/** A user's totals in micro-BGL; `held` is part of `balance`. */
export async function getUserTotals(db: Reader, userId: string): Promise<{ balance: bigint; held: bigint }> {
  const { rows } = await sql<{ balance: bigint; held: bigint }>`
    select credits_posted - debits_posted as balance, debits_pending as held
    from ledger_accounts where id = ${userAccount(userId)}`.execute(db);
  const [totals] = rows;
  if (totals === undefined) throw new Error(`User ${userId} has no ledger account`);
  return totals;
}

export type Period = {
  /** ISO dates, both inclusive; undefined is open. */
  from?: string;
  to?: string;
  /** Name of the time zone whose days they are. */
  timeZone: string;
};

const within = ({ from, to, timeZone }: Period) => sql`
  (${from ?? null}::date is null or created_at >= ${from ?? null}::date::timestamp at time zone ${timeZone}::text)
  and (${to ?? null}::date is null or created_at < (${to ?? null}::date + 1)::timestamp at time zone ${timeZone}::text)`;

export type StatementTransfer = {
  seq: bigint;
  id: string;
  debit_account_id: string;
  credit_account_id: string;
  amount: bigint;
  kind: TransferKind;
  description: string;
  refs: Record<string, string>;
  created_at: Date;
  hash: string | null;
};

/** The user's transfers, newest first, below the seq `before`. Each side has its index; the rows of both are merged. */
export async function listUserTransfers(
  db: Reader,
  input: Period & { userId: string; before: bigint | null; limit: number },
): Promise<StatementTransfer[]> {
  const account = userAccount(input.userId);
  const before = sql`(${input.before}::bigint is null or seq < ${input.before}::bigint)`;
  const { rows } = await sql<StatementTransfer>`
    select t.seq, t.id, t.debit_account_id, t.credit_account_id, t.amount, t.kind, t.description, t.refs,
      t.created_at, s.hash
    from (
      (select * from ledger_transfers where debit_account_id = ${account} and ${before} and ${within(input)}
        order by seq desc limit ${input.limit})
      union all
      (select * from ledger_transfers where credit_account_id = ${account} and ${before} and ${within(input)}
        order by seq desc limit ${input.limit})
    ) t
    left join ledger_seals s on s.seq = t.seq
    order by t.seq desc
    limit ${input.limit}`.execute(db);
  return rows;
}

export type OpenHold = {
  id: string;
  debit_account_id: string;
  credit_account_id: string;
  amount: bigint;
  kind: TransferKind;
  description: string;
  refs: Record<string, string>;
  created_at: Date;
};

/** What is held from the user now, newest first. */
export async function listOpenHolds(db: Reader, input: Period & { userId: string }): Promise<OpenHold[]> {
  const { rows } = await sql<OpenHold>`
    select id, debit_account_id, credit_account_id, amount, kind, description, refs, created_at
    from ledger_holds
    where debit_account_id = ${userAccount(input.userId)} and status = 'pending' and ${within(input)}
    order by created_at desc`.execute(db);
  return rows;
}

/** What left the user's account and what came back, per account on the other side. */
export async function sumUserTransfers(
  db: Reader,
  input: Period & { userId: string },
): Promise<{ other_account_id: string; paid: bigint; received: bigint }[]> {
  const account = userAccount(input.userId);
  const { rows } = await sql<{ other_account_id: string; paid: bigint; received: bigint }>`
    select other_account_id, sum(paid)::bigint as paid, sum(received)::bigint as received
    from (
      select credit_account_id as other_account_id, amount as paid, 0 as received
      from ledger_transfers where debit_account_id = ${account} and ${within(input)}
      union all
      select debit_account_id, 0, amount
      from ledger_transfers where credit_account_id = ${account} and ${within(input)}
    ) movements
    group by other_account_id`.execute(db);
  return rows;
}

/** What the user paid to each revenue account on each day (UTC), less what came back; oldest first. */
export async function sumSpendByDay(
  db: Reader,
  input: Period & { userId: string },
): Promise<{ date: string; revenue_account_id: string; amount: bigint }[]> {
  const account = userAccount(input.userId);
  const { rows } = await sql<{ date: string; revenue_account_id: string; amount: bigint }>`
    select to_char(created_at at time zone ${input.timeZone}::text, 'YYYY-MM-DD') as date, revenue_account_id, sum(amount)::bigint as amount
    from (
      select created_at, credit_account_id as revenue_account_id, amount
      from ledger_transfers where debit_account_id = ${account} and ${within(input)}
      union all
      select created_at, debit_account_id, -amount
      from ledger_transfers where credit_account_id = ${account} and ${within(input)}
    ) movements
    where revenue_account_id like 'revenue:%'
    group by 1, 2
    order by 1, 2`.execute(db);
  return rows;
}

export type AccountSums = {
  id: string;
  kind: string;
  owner: string | null;
  /** What the account says; null for system accounts. */
  credits_posted: bigint | null;
  debits_posted: bigint | null;
  debits_pending: bigint | null;
  /** What its transfers and open holds say. */
  credits_summed: bigint;
  debits_summed: bigint;
  pending_summed: bigint;
  transfers: number;
};

/** Every account with its own totals and, beside them, the same numbers summed from its rows. */
export async function listAccountSums(db: Reader): Promise<AccountSums[]> {
  const { rows } = await sql<AccountSums>`
    with entries as (
      select account_id, sum(credit)::bigint as credits, sum(debit)::bigint as debits, count(*)::int as transfers
      from (
        select credit_account_id as account_id, amount as credit, 0 as debit from ledger_transfers
        union all
        select debit_account_id, 0, amount from ledger_transfers
      ) sides
      group by account_id
    ), open_holds as (
      select debit_account_id as account_id, sum(amount)::bigint as pending
      from ledger_holds where status = 'pending' group by debit_account_id
    )
    select a.id, a.kind, u.username as owner, a.credits_posted, a.debits_posted, a.debits_pending,
      coalesce(e.credits, 0) as credits_summed, coalesce(e.debits, 0) as debits_summed,
      coalesce(h.pending, 0) as pending_summed, coalesce(e.transfers, 0) as transfers
    from ledger_accounts a
    left join users u on u.id = a.owner_user_id
    left join entries e on e.account_id = a.id
    left join open_holds h on h.account_id = a.id
    order by a.kind = 'user', a.id`.execute(db);
  return rows;
}

/** Counts for the operator, and holds whose settlement does not match their transfer. */
export async function countLedger(db: Reader) {
  const { rows } = await sql<{
    transfers: number;
    open_holds: number;
    sealed_transfers: number;
    skipped_transfers: number;
    wrong_settlements: number;
  }>`
    select
      (select count(*)::int from ledger_transfers) as transfers,
      (select count(*)::int from ledger_holds where status = 'pending') as open_holds,
      (select count(*)::int from ledger_seals) as sealed_transfers,
      (select count(*)::int from ledger_transfers t
        where t.seq < (select max(seq) from ledger_seals)
          and not exists (select from ledger_seals s where s.seq = t.seq)) as skipped_transfers,
      (select count(*)::int from ledger_holds h full join ledger_transfers t on t.hold_id = h.id
        where (h.id is not null or t.hold_id is not null)
          and h.settled_amount is distinct from t.amount) as wrong_settlements`.execute(db);
  const [counts] = rows;
  if (counts === undefined) throw new Error('The ledger gave no counts');
  return counts;
}

/** The last given seq, and then a transaction id that is higher than those of all who hold one up to it. */
export async function takeFence(db: Database): Promise<{ seq: bigint; xid: string }> {
  const last = await sql<{ seq: bigint }>`select last_value as seq from ledger_transfers_seq_seq`.execute(db);
  const own = await sql<{ xid: string }>`select pg_current_xact_id()::text as xid`.execute(db);
  const seq = last.rows[0]?.seq;
  const xid = own.rows[0]?.xid;
  if (seq === undefined || xid === undefined) throw new Error('The ledger gave no fence');
  return { seq, xid };
}

/** Whether all transactions up to this id are over. */
export async function hasEveryoneBeforeEnded(db: Database, xid: string): Promise<boolean> {
  const { rows } = await sql<{ ended: boolean }>`
    select pg_snapshot_xmin(pg_current_snapshot()) > ${xid}::xid8 as ended`.execute(db);
  return rows[0]?.ended === true;
}

/** One sealer at a time, until the transaction ends. */
export async function lockChain(tx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('ledger_seals'))`.execute(tx);
}

export async function findChainHead(db: Reader): Promise<{ seq: bigint; hash: string } | undefined> {
  return db
    .selectFrom('ledger_seals')
    .select(['seq', 'hash'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
}

const sealableColumns = sql`
  t.seq, t.id, t.debit_account_id, t.credit_account_id, t.amount, t.kind, t.description, t.refs, t.hold_id,
  t.idempotency_key, to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at_utc`;

export async function listUnsealed(
  tx: Transaction,
  { after, seqMax, limit }: { after: bigint; seqMax: bigint; limit: number },
): Promise<SealableTransfer[]> {
  const { rows } = await sql<SealableTransfer>`
    select ${sealableColumns} from ledger_transfers t
    where t.seq > ${after} and t.seq <= ${seqMax} order by t.seq limit ${limit}`.execute(tx);
  return rows;
}

export async function insertSeals(tx: Transaction, seals: { seq: bigint; hash: string }[]): Promise<void> {
  await tx.insertInto('ledger_seals').values(seals).execute();
}

/** Seals above `after` in order, each with its transfer; null where the transfer is gone. */
export async function listSeals(
  db: Reader,
  { after, limit }: { after: bigint; limit: number },
): Promise<{ seq: bigint; hash: string; transfer: SealableTransfer | null }[]> {
  const { rows } = await sql<SealableTransfer & { sealed_seq: bigint; hash: string; gone: boolean }>`
    select s.seq as sealed_seq, s.hash, t.seq is null as gone, ${sealableColumns}
    from ledger_seals s left join ledger_transfers t on t.seq = s.seq
    where s.seq > ${after} order by s.seq limit ${limit}`.execute(db);
  return rows.map(({ sealed_seq, hash, gone, ...transfer }) => ({
    seq: sealed_seq,
    hash,
    transfer: gone ? null : transfer,
  }));
}

/** The seal that stands `count` places before the newest one; undefined when there are fewer. */
export async function findSealBefore(
  db: Reader,
  count: number,
): Promise<{ seq: bigint; hash: string } | undefined> {
  return db
    .selectFrom('ledger_seals')
    .select(['seq', 'hash'])
    .orderBy('seq', 'desc')
    .offset(count)
    .limit(1)
    .executeTakeFirst();
}
