import type { Transaction } from '../../../platform/db/database.ts';
import { GRANTS_ACCOUNT, userAccount } from './accounts.ts';
import { type References, transfer } from './transfer.ts';

/**
 * Gives a user credits, once per key. With `sendable`, the user can send them to others, unless they expire.
 * Credits that cannot be sent are spent first.
 */
export async function giveCredits(
  tx: Transaction,
  gift: {
    userId: string;
    amountMicro: bigint;
    description: string;
    references?: References;
    idempotencyKey: string;
    sendable: boolean;
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
    ...((gift.expiresAt || !gift.sendable) && { given: { expiresAt: gift.expiresAt ?? null } }),
  });
}
