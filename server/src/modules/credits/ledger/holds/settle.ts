import { formatBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import type { Transaction } from '../../../../platform/db/database.ts';
import { callOnce, holdEnded, publishBalance } from '../ledger-answers.ts';

/** The end of a hold: a charge from 0 to the hold's amount. */
type Settlement = { holdId: string; amountMicro: bigint };

/**
 * Charges any amount from 0 to the hold's amount and releases the rest; the transfer id is null if nothing
 * was charged. Repeating the call with the same amount returns the same result. With another amount, or after
 * a release, throws AppError 'conflict'. An amount above the hold is a bug of the caller.
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
