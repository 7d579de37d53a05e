import type { Transaction } from '../../../../platform/db/database.ts';
import { settle } from './settle.ts';

/** Gives the whole hold back. May be repeated. Throws AppError 'conflict' when it was settled with a charge. */
export async function release(tx: Transaction, input: { holdId: string }): Promise<void> {
  await settle(tx, { holdId: input.holdId, amountMicro: 0n });
}
