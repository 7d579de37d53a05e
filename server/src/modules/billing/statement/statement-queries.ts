import { type RawBuilder, sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { userAccount } from '../ledger/accounts.ts';
import type { TransferKind } from '../ledger/transfer.ts';

type Reader = Database | Transaction;

export type Period = {
  /** ISO dates, both inclusive; undefined means unbounded. */
  from?: string;
  to?: string;
  /** Name of the time zone that defines the days. */
  timeZone: string;
};

/** Selects some of a user's movements. */
export type Selection = Period & {
  userId: string;
  /** Only movements of this API key; undefined for all. */
  keyId?: string | undefined;
};

/** Matches movements with this API key. Matches all movements if no key is given. */
export const byKey = ({ keyId }: Pick<Selection, 'keyId'>) =>
  keyId === undefined ? sql`true` : sql`refs ->> 'key_id' = ${keyId}`;

/**
 * Like `byKey`, for credits that the user received: with a key, matches only refunds. The key of another user
 * who sent credits must stay hidden.
 */
export const backByKey = (selection: Pick<Selection, 'keyId'>) =>
  selection.keyId === undefined ? sql`true` : sql`kind = 'refund' and ${byKey(selection)}`;

/** Matches movements within the period. */
export const within = ({ from, to, timeZone }: Period) => sql`
  (${from ?? null}::date is null or created_at >= ${from ?? null}::date::timestamp at time zone ${timeZone}::text)
  and (${to ?? null}::date is null or created_at < (${to ?? null}::date + 1)::timestamp at time zone ${timeZone}::text)`;

/** A transfer or a hold. */
type Movement = {
  id: string;
  debit_account_id: string;
  credit_account_id: string;
  amount: bigint;
  kind: TransferKind;
  description: string;
  refs: Record<string, string>;
  created_at: Date;
};

export type OpenHold = Movement;

export type StatementTransfer = Movement & {
  seq: bigint;
  hash: string | null;
  /** The other user of a send or an invitation, with their current name; null if there is none. */
  counterpart: { username: string; isDeleted: boolean } | null;
};

/**
 * Returns the user's transfers before the transfer with the seq `before`, newest first. Reads payments and
 * receipts separately, because each has its own index by time, and merges them.
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

/** Returns the user's open holds, newest first; `after` is the previous page's last hold. */
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
