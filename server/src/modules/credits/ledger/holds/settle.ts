import { formatBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import type { Transaction } from '../../../../platform/db/database.ts';
import { callOnce, holdEnded, publishBalance } from '../ledger-answers.ts';

/** How a hold ends: with a charge from 0 to the hold's amount. */
type Settlement = { holdId: string; amountMicro: bigint };

/**
 * Charges any amount from 0 to the hold's and gives the rest back; the transfer's id is null where
 * nothing was charged. Settling again with the same amount answers the same; with another amount,
 * or after a release, throws AppError 'conflict'. More than the hold is a mistake of the caller.
 */
export async function settle(tx: Transaction, input: Settlement): Promise<{ transferId: string | null }> {
  const answer = await callOnce<{
    outcome: 'ok' | 'replayed' | 'exceeds_hold' | 'ended' | 'not_found';
    transfer_id: string | null;
    debit_account_id: string | null;
  }>(tx, sql`select * from ledger_settle(${input.holdId}, ${input.amountMicro})`);
  if (answer.outcome === 'not_found') throw new Error(`There is no hold ${input.holdId}`);
  if (answer.outcome === 'exceeds_hold') {
    throw new Error(`Hold ${input.holdId} is smaller than the ${formatBgl(input.amountMicro)} BGL to settle`);
  }
  if (answer.outcome === 'ended') throw holdEnded();
  if (answer.outcome === 'ok') await publishBalance(tx, [answer.debit_account_id]);
  return { transferId: answer.transfer_id };
}
