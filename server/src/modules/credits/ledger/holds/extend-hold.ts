import { sql } from 'kysely';
import type { Transaction } from '../../../../platform/db/database.ts';
import { callOnce, type ExtensionOutcome, publishBalance, refuseUnlessExtended } from '../ledger-answers.ts';
import { withinBudget } from './within-budget.ts';

/**
 * Raises a pending hold to a new total amount or a later expiry. A smaller amount or an earlier expiry has no
 * effect, so the call may be repeated. Throws AppError 'insufficient_funds' or 'budget_exceeded' without
 * changing the hold, or 'conflict' if it has ended.
 */
export async function extendHold(
  tx: Transaction,
  input: { holdId: string; amountMicro?: bigint; expiresAt?: Date },
): Promise<void> {
  const answer = await withinBudget(tx, () =>
    callOnce<{
      outcome: ExtensionOutcome;
      missing: bigint | null;
      available: bigint | null;
      debit_account_id: string | null;
    }>(
      tx,
      sql`select * from ledger_extend_hold(${input.holdId}, ${input.amountMicro ?? null}, ${input.expiresAt ?? null})`,
    ),
  );
  refuseUnlessExtended(answer, { holdId: input.holdId, missing: answer.missing });
  if (answer.missing) await publishBalance(tx, [answer.debit_account_id]);
}
