import type { Use } from '@bakehouse/contract/credits';
import { sql } from 'kysely';
import { type Transaction, toJson } from '../../../../platform/db/database.ts';
import { revenueAccount, userAccount } from '../accounts.ts';
import { callOnce, type MoveOutcome, publishBalance, refuseUnlessMoved } from '../ledger-answers.ts';
import type { References } from '../transfer.ts';
import { withinBudget } from './within-budget.ts';

export type Hold = {
  userId: string;
  amountMicro: bigint;
  /** The use of the credits, which determines the revenue account. */
  kind: Use;
  description: string;
  references?: References;
  /** Expiry of the hold. Longer work must extend it. */
  expiresAt: Date;
  /** Unique among all holds: start it with the noun, e.g. `run:<id>`. */
  idempotencyKey: string;
};

type HoldAnswer = { outcome: MoveOutcome; hold_id: string; available: bigint | null };

/**
 * Reserves credits for work that is about to start: the user cannot spend them, and they are released unless
 * the hold is settled. Throws AppError 'insufficient_funds', 'budget_exceeded' or 'idempotency_conflict'.
 */
export async function hold(tx: Transaction, input: Hold): Promise<{ holdId: string }> {
  const answer = await withinBudget(tx, () =>
    callOnce<HoldAnswer>(
      tx,
      sql`select outcome, hold_id, available from ledger_hold(
        ${userAccount(input.userId)}, ${revenueAccount(input.kind)}, ${input.amountMicro}, 'charge',
        ${input.description}, ${toJson(input.references ?? {})}, ${input.expiresAt}, ${input.idempotencyKey})`,
    ),
  );
  refuseUnlessMoved(answer.outcome, input.amountMicro, answer);
  if (answer.outcome === 'ok') await publishBalance(tx, [userAccount(input.userId)]);
  return { holdId: answer.hold_id };
}
