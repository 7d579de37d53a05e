import { sql } from 'kysely';
import type { Transaction } from '../../platform/db/database.ts';

const balance = sql.raw('(credits_posted - debits_posted)');

/** Users that were watched and have less than the limit now, `atMost` so many; they are not watched any more. */
export async function takeLowBalances(
  tx: Transaction,
  limitMicro: bigint,
  atMost: number,
): Promise<{ userId: string; balanceMicro: bigint }[]> {
  const { rows } = await sql<{ userId: string; balanceMicro: bigint }>`
    with low as (
      select user_id, ${balance} as balance
      from low_balance_watch join ledger_accounts on id = 'user:' || user_id
      where ${balance} < ${limitMicro}
      limit ${atMost}
    )
    delete from low_balance_watch watched using low
    where watched.user_id = low.user_id
    returning watched.user_id as "userId", low.balance as "balanceMicro"`.execute(tx);
  return rows;
}

/** Watches all users who have the limit or more, and an account. */
export async function watchBalances(tx: Transaction, limitMicro: bigint): Promise<void> {
  await sql`
    insert into low_balance_watch (user_id)
    select owner_user_id from ledger_accounts account
    join users on users.id = account.owner_user_id and users.deleted_at is null
    where kind = 'user' and ${balance} >= ${limitMicro}
      and not exists (select from low_balance_watch watched where watched.user_id = account.owner_user_id)
    on conflict do nothing`.execute(tx);
}

export async function stopWatching(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('low_balance_watch').where('user_id', '=', userId).execute();
}
