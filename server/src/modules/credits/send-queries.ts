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

/** The newest transfers between users with a lower seq than `before`. */
export async function selectSends(
  db: Database,
  { userId, before, limit }: { userId?: string; before: bigint; limit: number },
): Promise<SendRow[]> {
  const sender = userId === undefined ? null : userAccount(userId);
  const { rows } = await sql<SendRow>`
    select sent.seq, sent.id, sent.created_at as at, payer.owner_user_id as "userId", users.username,
      recipient.owner_user_id as "recipientId", sent.amount
    from (
      select * from ledger_transfers
      where kind = 'transfer' and seq < ${before} and (${sender}::text is null or debit_account_id = ${sender})
      order by seq desc limit ${limit}
    ) sent
    join ledger_accounts payer on payer.id = sent.debit_account_id
    join ledger_accounts recipient on recipient.id = sent.credit_account_id
    left join users on users.id = payer.owner_user_id and users.deleted_at is null
    order by sent.seq desc`.execute(db);
  return rows;
}
