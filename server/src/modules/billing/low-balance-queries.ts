import { type RawBuilder, sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';

const balance = sql.raw('(account.credits_posted - account.debits_posted)');

/** The transfers with a seq above `after` and up to `upTo`. */
export type Moved = { after: bigint; upTo: bigint };

/** Matches the accounts on one side of these transfers. Matches all accounts if `moved` is null. */
const ofMoved = (side: 'debit_account_id' | 'credit_account_id', moved: Moved | null): RawBuilder<unknown> =>
  moved === null
    ? sql`true`
    : sql`account.id in (
        select ${sql.ref(side)} from ledger_transfers where seq > ${moved.after} and seq <= ${moved.upTo})`;

/** Removes up to `atMost` users below the limit from the watch list, and returns them. */
export async function unwatchLowBalances(
  tx: Transaction,
  { limitMicro, moved, atMost }: { limitMicro: bigint; moved: Moved | null; atMost: number },
): Promise<{ userId: string; balanceMicro: bigint }[]> {
  const { rows } = await sql<{ userId: string; balanceMicro: bigint }>`
    with low as (
      select user_id, ${balance} as balance
      from ledger_accounts account join low_balance_watch on user_id = owner_user_id
      where kind = 'user' and ${balance} < ${limitMicro} and ${ofMoved('debit_account_id', moved)}
      limit ${atMost}
    )
    delete from low_balance_watch watched using low
    where watched.user_id = low.user_id
    returning watched.user_id as "userId", low.balance as "balanceMicro"`.execute(tx);
  return rows;
}

/** Adds users whose balance is at or above the limit to the watch list. */
export async function watchBalances(
  tx: Transaction,
  { limitMicro, moved }: { limitMicro: bigint; moved: Moved | null },
): Promise<void> {
  await sql`
    insert into low_balance_watch (user_id)
    select owner_user_id from ledger_accounts account
    join users on users.id = account.owner_user_id and users.deleted_at is null
    where kind = 'user' and ${balance} >= ${limitMicro} and ${ofMoved('credit_account_id', moved)}
      and not exists (select from low_balance_watch watched where watched.user_id = account.owner_user_id)
    on conflict do nothing`.execute(tx);
}

/** Returns the last checked transfer, and the limit at that time; undefined before the first check. */
export async function findLastBalanceCheck(
  db: Database,
): Promise<{ limitMicro: bigint; seq: bigint } | undefined> {
  return db.selectFrom('low_balance_look').select(['limit_micro as limitMicro', 'seq']).executeTakeFirst();
}

export async function saveBalanceCheck(
  tx: Transaction,
  look: { limitMicro: bigint; seq: bigint },
): Promise<void> {
  await sql`
    insert into low_balance_look (limit_micro, seq) values (${look.limitMicro}, ${look.seq})
    on conflict (single) do update set limit_micro = excluded.limit_micro, seq = excluded.seq`.execute(tx);
}

/** Returns the seq of the last of the next `atMost` transfers after this one; null if there are none. */
export async function findLastTransferSeq(
  db: Database,
  after: bigint,
  atMost: number,
): Promise<bigint | null> {
  const { rows } = await sql<{ seq: bigint | null }>`
    select max(seq) as seq from (
      select seq from ledger_transfers where seq > ${after} order by seq limit ${atMost}
    ) moved`.execute(db);
  return rows[0]?.seq ?? null;
}

export async function stopWatching(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('low_balance_watch').where('user_id', '=', userId).execute();
}
