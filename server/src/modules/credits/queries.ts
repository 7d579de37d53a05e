import { type RawBuilder, sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { userAccount } from './ledger/accounts.ts';
import type { TransferKind } from './ledger/transfer.ts';
import { type SealableTransfer, sealableColumns } from './verification/hash-transfer.ts';

type Reader = Database | Transaction;

/** The user who has this username or id. */
export async function findNamedUser(
  db: Reader,
  name: string,
): Promise<{ id: string; username: string } | undefined> {
  const { rows } = await sql<{ id: string; username: string }>`
    select id, username from users where (username = lower(${name}) or id = ${name}) and deleted_at is null`.execute(
    db,
  );
  return rows[0];
}

export type UserTotals = { balance: bigint; held: bigint; given: bigint; owed: bigint };

/** A user's totals in micro-BGL; `held` and `given` are parts of `balance`, and `owed` is what a chargeback left behind. */
export async function getUserTotals(db: Reader, userId: string): Promise<UserTotals> {
  const { rows } = await sql<UserTotals>`
    select credits_posted - debits_posted as balance, debits_pending as held, given,
      ledger_owed(owner_user_id) as owed
    from ledger_accounts where id = ${userAccount(userId)}`.execute(db);
  const [totals] = rows;
  if (totals === undefined) throw new Error(`User ${userId} has no ledger account`);
  return totals;
}

/** What the user has sent to others in the last 24 hours, as `ledger_send` counts it. */
export async function sumSentInDay(db: Reader, userId: string): Promise<bigint> {
  const { rows } = await sql<{ sent: bigint }>`
    select coalesce(sum(amount), 0)::bigint as sent from ledger_transfers
    where debit_account_id = ${userAccount(userId)} and kind = 'transfer'
      and created_at > now() - interval '24 hours'`.execute(db);
  return rows[0]?.sent ?? 0n;
}

/** How many given credits end next, and when. */
export async function findNextExpiry(
  db: Reader,
  userId: string,
): Promise<{ amount: bigint; at: Date } | undefined> {
  const { rows } = await sql<{ amount: bigint; at: Date }>`
    select sum(remaining)::bigint as amount, expires_at as at
    from ledger_given
    where account_id = ${userAccount(userId)} and remaining > 0 and expires_at < 'infinity'
    group by expires_at
    order by expires_at
    limit 1`.execute(db);
  return rows[0];
}

export type Period = {
  /** ISO dates, both inclusive; undefined is open. */
  from?: string;
  to?: string;
  /** Name of the time zone whose days they are. */
  timeZone: string;
};

/** A part of what happened to a user's credits. */
export type Selection = Period & {
  userId: string;
  /** Only what was asked for with this API key; undefined is whatever. */
  keyId?: string | undefined;
};

/** What was asked for with the key; whatever, where there is none. */
export const byKey = ({ keyId }: Pick<Selection, 'keyId'>) =>
  keyId === undefined ? sql`true` : sql`refs ->> 'key_id' = ${keyId}`;

/** What came back of what the key asked for. Credits that another user sent carry that user's key, which is not for these eyes. */
export const backByKey = (selection: Pick<Selection, 'keyId'>) =>
  selection.keyId === undefined ? sql`true` : sql`kind = 'refund' and ${byKey(selection)}`;

/** What happened on the days of the period. */
export const within = ({ from, to, timeZone }: Period) => sql`
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
  /** Of the other user of a send or an invitation, as the account has it now; null where there is none. */
  counterpart: { username: string; isDeleted: boolean } | null;
};

/**
 * The user's transfers, the latest first, before the one with the seq `before`. Each side has its
 * index by time; the rows of both are merged.
 */
export async function listUserTransfers(
  db: Reader,
  input: Selection & { before: bigint | null; limit: number },
): Promise<StatementTransfer[]> {
  const account = userAccount(input.userId);
  const before =
    input.before === null
      ? sql`true`
      : sql`(created_at, seq) < (select created_at, seq from ledger_transfers where seq = ${input.before})`;
  const side = (column: string, ofKey: RawBuilder<unknown>) => sql`
    (select * from ledger_transfers where ${sql.ref(column)} = ${account} and ${before} and ${within(input)} and ${ofKey}
      order by created_at desc, seq desc limit ${input.limit})`;
  const { rows } = await sql<StatementTransfer>`
    select t.seq, t.id, t.debit_account_id, t.credit_account_id, t.amount, t.kind, t.description, t.refs,
      t.created_at, s.hash,
      case when u.id is not null
        then json_build_object('username', u.username, 'isDeleted', u.deleted_at is not null) end as counterpart
    from (${side('debit_account_id', byKey(input))} union all ${side('credit_account_id', backByKey(input))}) t
    left join ledger_seals s on s.seq = t.seq
    left join users u on u.id = case t.kind
      when 'transfer' then
        substr(case t.debit_account_id when ${account} then t.credit_account_id else t.debit_account_id end, 6)
      when 'grant' then coalesce(t.refs ->> 'inviter_id', t.refs ->> 'invited_id') end
    order by t.created_at desc, t.seq desc
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

/** What is held from the user now, newest first; `after` is the last one of the page before. */
export async function listOpenHolds(
  db: Reader,
  input: Selection & { after: string | undefined; limit: number },
): Promise<OpenHold[]> {
  const after =
    input.after === undefined
      ? sql`true`
      : sql`(created_at, id) < (select created_at, id from ledger_holds where id = ${input.after})`;
  const { rows } = await sql<OpenHold>`
    select id, debit_account_id, credit_account_id, amount, kind, description, refs, created_at
    from ledger_holds
    where debit_account_id = ${userAccount(input.userId)} and status = 'pending' and ${after}
      and ${within(input)} and ${byKey(input)}
    order by created_at desc, id desc
    limit ${input.limit}`.execute(db);
  return rows;
}

/** No transfer has it: all of them come before. */
export const LAST_SEQ = 2n ** 63n - 1n;

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

export async function listUnsealed(
  tx: Transaction,
  { after, seqMax, limit }: { after: bigint; seqMax: bigint; limit: number },
): Promise<SealableTransfer[]> {
  const { rows } = await sql<SealableTransfer>`
    select ${sealableColumns} from ledger_transfers t
    where t.seq > ${after} and t.seq <= ${seqMax} order by t.seq limit ${limit}`.execute(tx);
  return rows;
}

/** The age of the oldest transfer that has no seal; 0 where all have one. */
export async function findUnsealedSeconds(db: Reader): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from clock_timestamp() - created_at)::float8 as seconds from ledger_transfers
    where seq > coalesce((select max(seq) from ledger_seals), 0) order by seq limit 1`.execute(db);
  return rows[0]?.seconds ?? 0;
}

export async function insertSeals(tx: Transaction, seals: { seq: bigint; hash: string }[]): Promise<void> {
  await tx.insertInto('ledger_seals').values(seals).execute();
}

/** What the sealer sums of sealed transfers: each table with what it sums by, and which of the `ledger_sum_days` it sums. */
const sealedSums = [
  { table: 'ledger_sealed_totals', by: ['account_id', 'counterpart'], of: sql`true` },
  { table: 'ledger_daily', by: ['account_id', 'day', 'counterpart'], of: sql`true` },
  { table: 'ledger_key_totals', by: ['account_id', 'key_id', 'counterpart'], of: sql`key_id is not null` },
  {
    table: 'ledger_key_daily',
    by: ['account_id', 'key_id', 'day', 'counterpart'],
    of: sql`key_id is not null`,
  },
] as const;

/** Adds the transfers above `after` and up to `upTo`, which are being sealed, to the sums of what is sealed. */
export async function addToSealedSums(
  tx: Transaction,
  { after, upTo }: { after: bigint; upTo: bigint },
): Promise<void> {
  for (const { table, by, of } of sealedSums) {
    const columns = sql.join(by.map((column) => sql.ref(column)));
    await sql`
      insert into ${sql.table(table)} as total (${columns}, paid, received, transfers)
      select ${columns}, sum(paid), sum(received), sum(transfers)
      from ledger_sum_days(${after}, ${upTo}) where ${of} group by ${columns}
      on conflict (${columns}) do update set
        paid = total.paid + excluded.paid,
        received = total.received + excluded.received,
        transfers = total.transfers + excluded.transfers`.execute(tx);
  }
}
