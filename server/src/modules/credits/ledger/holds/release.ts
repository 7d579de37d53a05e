import type { Transaction } from '../../../../platform/db/database.ts';
import { settle } from './settle.ts';

/** Releases the whole hold. May be repeated. Throws AppError 'conflict' if it was settled with a charge. */
export async function release(tx: Transaction, input: { holdId: string }): Promise<void> {
  await settle(tx, { holdId: input.holdId, amountMicro: 0n });
}
