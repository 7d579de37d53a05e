import { sql } from 'kysely';
import type { Database } from '../../platform/db/database.ts';
import { userAccount } from './ledger/accounts.ts';

type SendRow = {
  seq: bigint;
  id: string;
  at: Date;
  userId: string;
  username: string | null;
  recipientId: string;
  amount: bigint;
};

/**
 * Returns the newest transfers between users before the transfer with the seq `before`. All users' transfers
 * are ordered by seq, one user's by time, to match the indexes.
 */
export async function selectSends(
  db: Database,
  { userId, before, limit }: { userId?: string; before: bigint; limit: number },
): Promise<SendRow[]> {
  const startedAt = sql`coalesce((select created_at from ledger_transfers where seq = ${before}), 'infinity')`;
  const [selected, order] =
    userId === undefined
      ? [sql`seq < ${before}`, sql`sent.seq desc`]
      : [
          sql`debit_account_id = ${userAccount(userId)} and (created_at, seq) < (${startedAt}, ${before})`,
          sql`sent.created_at desc, sent.seq desc`,
        ];
  const { rows } = await sql<SendRow>`
    select sent.seq, sent.id, sent.created_at as at, payer.owner_user_id as "userId", users.username,
      recipient.owner_user_id as "recipientId", sent.amount
    from (
      select * from ledger_transfers sent
      where kind = 'transfer' and ${selected} order by ${order} limit ${limit}
    ) sent
    join ledger_accounts payer on payer.id = sent.debit_account_id
    join ledger_accounts recipient on recipient.id = sent.credit_account_id
    left join users on users.id = payer.owner_user_id and users.deleted_at is null
    order by ${order}`.execute(db);
  return rows;
}
