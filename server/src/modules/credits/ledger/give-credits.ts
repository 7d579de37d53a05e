import type { Transaction } from '../../../platform/db/database.ts';
import { GRANTS_ACCOUNT, userAccount } from './accounts.ts';
import { type References, transfer } from './transfer.ts';

/**
 * Step: gives a user promotional credits, once per key. They are spent first, cannot be sent to others, and end at
 * `expiresAt`, or never.
 */
export async function giveCredits(
  tx: Transaction,
  gift: {
    userId: string;
    amountMicro: bigint;
    description: string;
    references?: References;
    idempotencyKey: string;
    expiresAt?: Date | null;
  },
): Promise<{ transferId: string }> {
  return transfer(tx, {
    debitAccountId: GRANTS_ACCOUNT,
    creditAccountId: userAccount(gift.userId),
    amountMicro: gift.amountMicro,
    kind: 'grant',
    description: gift.description,
    references: gift.references ?? {},
    idempotencyKey: gift.idempotencyKey,
    given: { expiresAt: gift.expiresAt ?? null },
  });
}
