import type { Transaction } from '../../../platform/db/database.ts';
import { getUserTotals } from '../queries.ts';
import { GRANTS_ACCOUNT, userAccount } from './accounts.ts';
import { transfer } from './transfer.ts';

/** Step: withdraws a user's credits except held ones. Returns the held amount, to withdraw later. */
export async function giveUpCredits(tx: Transaction, userId: string): Promise<{ heldMicro: bigint }> {
  const { balance, held } = await getUserTotals(tx, userId);
  if (balance > held) {
    await transfer(tx, {
      debitAccountId: userAccount(userId),
      creditAccountId: GRANTS_ACCOUNT,
      amountMicro: balance - held,
      kind: 'expiry',
      description: 'Given up with the account',
      // A repeated call finds nothing left to withdraw.
      idempotencyKey: null,
    });
  }
  return { heldMicro: held };
}
