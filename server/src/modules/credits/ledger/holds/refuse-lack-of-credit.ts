import type { Transaction } from '../../../../platform/db/database.ts';
import { availableMicro } from '../available-micro.ts';
import { insufficientFunds } from '../ledger-answers.ts';

/**
 * Step: refuses by its sum what is then held in several parts, the first of which there may be enough for. Throws
 * AppError('insufficient_funds').
 */
export async function refuseLackOfCredit(
  tx: Transaction,
  { userId, amountMicro }: { userId: string; amountMicro: bigint },
): Promise<void> {
  const available = await availableMicro(tx, userId);
  if (amountMicro > available) throw insufficientFunds(amountMicro, available);
}
