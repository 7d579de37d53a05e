import { sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { isPerson } from '../accounts/users.ts';
import { userAccount } from './ledger/accounts.ts';

type Reader = Database | Transaction;

/** Returns the user with this username or id. */
export async function findNamedUser(
  db: Reader,
  name: string,
): Promise<{ id: string; username: string } | undefined> {
  const { rows } = await sql<{ id: string; username: string }>`
    select id, username from users where (username = lower(${name}) or id = ${name}) and deleted_at is null
      and ${isPerson}`.execute(db);
  return rows[0];
}

export type UserTotals = { balance: bigint; held: bigint; given: bigint; owed: bigint };

/** Returns a user's totals in micro-BGL. `held` and `given` are parts of `balance`. */
export async function getUserTotals(db: Reader, userId: string): Promise<UserTotals> {
  const { rows } = await sql<UserTotals>`
    select credits_posted - debits_posted as balance, debits_pending as held, given,
      ledger_owed(owner_user_id) as owed
    from ledger_accounts where id = ${userAccount(userId)}`.execute(db);
  const [totals] = rows;
  if (totals === undefined) throw new Error(`User ${userId} has no ledger account`);
  return totals;
}

/** Returns the amount that the user sent to others in the last 24 hours. Keep in step with `ledger_send`. */
export async function sumSentInDay(db: Reader, userId: string): Promise<bigint> {
  const { rows } = await sql<{ sent: bigint }>`
    select coalesce(sum(amount), 0)::bigint as sent from ledger_transfers
    where debit_account_id = ${userAccount(userId)} and kind = 'transfer'
      and created_at > now() - interval '24 hours'`.execute(db);
  return rows[0]?.sent ?? 0n;
}

/** Returns when the next given credits expire, and their amount. */
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
