import { sql } from 'kysely';
import type { Transaction } from '../../../../platform/db/database.ts';
import { callOnce, type ExtensionOutcome, publishBalance, refuseUnlessExtended } from '../ledger-answers.ts';
import { withinBudget } from './within-budget.ts';

/**
 * Raises a pending hold by an amount, optionally with a later expiry, and returns its new amount. Not
 * idempotent: use `extendHold` for calls that may repeat. Throws the errors of `extendHold` without changing
 * the hold.
 */
export async function growHold(
  tx: Transaction,
  input: { holdId: string; byMicro: bigint; expiresAt?: Date },
): Promise<{ amountMicro: bigint }> {
  if (input.byMicro <= 0n) throw new Error(`Hold ${input.holdId} cannot grow by ${input.byMicro}`);
  const answer = await withinBudget(tx, () =>
    callOnce<{
      outcome: ExtensionOutcome;
      amount: bigint;
      available: bigint | null;
      debit_account_id: string | null;
    }>(
      tx,
      sql`select * from ledger_grow_hold(${input.holdId}, ${input.byMicro}, ${input.expiresAt ?? null})`,
    ),
  );
  refuseUnlessExtended(answer, { holdId: input.holdId, missing: input.byMicro });
  await publishBalance(tx, [answer.debit_account_id]);
  return { amountMicro: answer.amount };
}
