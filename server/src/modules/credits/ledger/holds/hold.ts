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
  /** What the credits are for; it decides the revenue account. */
  kind: Use;
  description: string;
  references?: References;
  /** When the hold lets go by itself. Work that lives longer extends it. */
  expiresAt: Date;
  /** Unique among all holds: begin it with the noun, e.g. `run:<id>`. */
  idempotencyKey: string;
};

type HoldAnswer = { outcome: MoveOutcome; hold_id: string; available: bigint | null };

/**
 * Promises credits to work that is about to start: they leave what the user can spend, and come
 * back unless the hold is settled. Throws AppError 'insufficient_funds', 'budget_exceeded' or
 * 'idempotency_conflict'.
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
