import { smallerAmount } from '@bakehouse/contract/money';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { settle } from '../../credits/ledger/holds/settle.ts';
import type { DraftRow } from '../drafts-table.ts';

/** Step: charges what the answers of a running draft have cost. Of one whose hold has ended before, as no server ran, nothing is. */
export async function chargeDraft(
  tx: Transaction,
  { hold_id: holdId, held_micro: held, cost_micro: cost }: DraftRow,
): Promise<void> {
  if (holdId === null) throw new Error('A draft that runs has a hold');
  await settle(tx, { holdId, amountMicro: smallerAmount(cost, held) }).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
  });
}
