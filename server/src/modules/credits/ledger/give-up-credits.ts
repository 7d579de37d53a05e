import type { Transaction } from '../../../platform/db/database.ts';
import { getUserTotals } from '../queries.ts';
import { GRANTS_ACCOUNT, userAccount } from './accounts.ts';
import { transfer } from './transfer.ts';

/**
 * Step: what a user has and nothing holds goes back to the installation. Answers what is still held: it can be given up once the
 * work has ended that it is for.
 */
export async function giveUpCredits(tx: Transaction, userId: string): Promise<{ heldMicro: bigint }> {
  const { balance, held } = await getUserTotals(tx, userId);
  if (balance > held) {
    await transfer(tx, {
      debitAccountId: userAccount(userId),
      creditAccountId: GRANTS_ACCOUNT,
      amountMicro: balance - held,
      kind: 'expiry',
      description: 'Given up with the account',
      // A repeated call finds nothing more to give up.
      idempotencyKey: null,
    });
  }
  return { heldMicro: held };
}
