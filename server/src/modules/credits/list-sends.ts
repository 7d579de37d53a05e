import { formatBgl } from '@bakehouse/contract/money';
import type { Database } from '../../platform/db/database.ts';
import { selectSends } from './send-queries.ts';

export type SentCredits = {
  seq: bigint;
  at: Date;
  userId: string;
  username: string | null;
  detail: { transaction_id: string; recipient_id: string; amount: string };
};

/** Returns transfers between users before the transfer `before`, newest first. */
export async function listSends(
  db: Database,
  filter: { userId?: string; before: bigint; limit: number },
): Promise<SentCredits[]> {
  const rows = await selectSends(db, filter);
  return rows.map(({ id, recipientId, amount, ...row }) => ({
    ...row,
    detail: { transaction_id: id, recipient_id: recipientId, amount: formatBgl(amount) },
  }));
}
