import { formatBgl } from '@bakehouse/contract/money';
import type { Transaction } from '../../../platform/db/database.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { lockTotals } from '../steps.ts';
import { LOSSES_ACCOUNT, receivableAccount } from './accounts.ts';
import { transfer } from './transfer.ts';

/** Step: writes off a deleted user's debt, at the expense of the installation. */
export async function writeOffDebt(tx: Transaction, userId: string): Promise<void> {
  const { owed } = await lockTotals(tx, userId);
  if (owed <= 0n) return;
  await transfer(tx, {
    debitAccountId: LOSSES_ACCOUNT,
    creditAccountId: receivableAccount(userId),
    amountMicro: owed,
    kind: 'chargeback',
    description: 'Owed by an account that was deleted',
    // A repeated call finds no debt.
    idempotencyKey: null,
  });
  await recordAudit(tx, { userId, action: 'credits.written_off', detail: { amount: formatBgl(owed) } });
}
