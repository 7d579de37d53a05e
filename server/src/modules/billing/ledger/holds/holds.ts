import type { Use } from '@bakehouse/contract/credits';
import { exceededBudget } from '@bakehouse/contract/errors';
import { formatBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import * as z from 'zod';
import { type Transaction, toJson } from '../../../../platform/db/database.ts';
import { AppError } from '../../../../platform/errors.ts';
import { revenueAccount, userAccount } from '../accounts.ts';
import {
  assertExtended,
  assertMoved,
  callOnce,
  type ExtensionOutcome,
  holdEnded,
  type MoveOutcome,
  publishBalance,
} from '../ledger-answers.ts';
import type { References } from '../transfer.ts';

/** The SQLSTATE of the trigger `ledger_holds_count_for_key`. */
const BUDGET_EXCEEDED = 'BK402';

const detail = exceededBudget.extend({ required: z.string() });

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
  assertExtended(answer, { holdId: input.holdId, missing: input.byMicro });
  await publishBalance(tx, [answer.debit_account_id]);
  return { amountMicro: answer.amount };
}

type Hold = {
  userId: string;
  amountMicro: bigint;
  /** The use of the credits, e.g. training. Determines the revenue account. */
  kind: Use;
  description: string;
  references?: References;
  /** When the hold expires. Work that takes longer must extend it. */
  expiresAt: Date;
  /** Unique among all holds. Start it with the kind of work, e.g. `run:<id>`. */
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
  assertMoved(answer.outcome, input.amountMicro, answer);
  if (answer.outcome === 'ok') await publishBalance(tx, [userAccount(input.userId)]);
  return { holdId: answer.hold_id };
}

/** How a hold ends: with a charge from 0 up to the hold's amount. */
type Settlement = { holdId: string; amountMicro: bigint };

/**
 * Charges an amount from 0 up to the hold's amount, and releases the rest. `transferId` is null if the amount
 * is 0. A repeated call with the same amount returns the same result. Throws AppError 'conflict' if the hold
 * was settled with another amount or released, and an Error if the amount exceeds the hold.
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

/**
 * Returns how much of an API key's budget is left in the current period after charges and holds; null without
 * a budget.
 */
export async function remainingBudgetMicro(tx: Transaction, keyId: string): Promise<bigint | null> {
  const isCurrent = sql`counted_since >= budget_period_start(budget_period, now())`;
  const key = await tx
    .selectFrom('api_keys')
    .select(
      sql<bigint>`greatest(0, budget_micro - held_micro - case when ${isCurrent} then spent_micro else 0 end)`.as(
        'left',
      ),
    )
    .where('id', '=', keyId)
    .where('budget_micro', 'is not', null)
    .executeTakeFirst();
  return key?.left ?? null;
}

/**
 * Runs a ledger call that may raise a hold. If the call exceeds the key's budget, rolls back only this call,
 * so that the transaction stays usable, and throws AppError 'budget_exceeded'.
 */
async function withinBudget<T>(tx: Transaction, move: () => Promise<T>): Promise<T> {
  await sql`savepoint within_budget`.execute(tx);
  try {
    const answer = await move();
    await sql`release savepoint within_budget`.execute(tx);
    return answer;
  } catch (error) {
    const exceeded = toBudgetExceeded(error);
    if (exceeded) await sql`rollback to savepoint within_budget`.execute(tx);
    throw exceeded ?? error;
  }
}

/** Converts PostgreSQL's error for an exceeded budget into an AppError; null for other errors. */
export function toBudgetExceeded(error: unknown): AppError | null {
  if (!(error instanceof Error) || !('code' in error) || error.code !== BUDGET_EXCEEDED) return null;
  const { required, ...budget } = detail.parse(JSON.parse('detail' in error ? String(error.detail) : ''));
  const amount = formatBgl(BigInt(budget.amount));
  const renewsAt = budget.renews_at === null ? null : new Date(budget.renews_at).toISOString();
  const per = budget.period === 'total' ? 'in all' : `per ${budget.period}`;
  return new AppError('budget_exceeded', {
    publicMessage: `The budget of the API key '${budget.key_name}' (${amount} BGL ${per}) does not cover this${
      renewsAt === null ? '' : `. It renews at ${renewsAt}`
    }`,
    data: {
      required_amount: formatBgl(BigInt(required)),
      budget: { ...budget, amount, renews_at: renewsAt },
    },
    cause: error,
  });
}

/** Returns true if the error means that the user's credits or the API key's budget are used up. */
export function isCreditExhausted(error: unknown): error is AppError {
  return (
    error instanceof AppError && (error.code === 'insufficient_funds' || error.code === 'budget_exceeded')
  );
}

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
  assertExtended(answer, { holdId: input.holdId, missing: answer.missing });
  if (answer.missing) await publishBalance(tx, [answer.debit_account_id]);
}

/** Releases at most `limit` holds that expired by `now`. Returns their number. */
export async function expireHolds(tx: Transaction, input: { now: Date; limit: number }): Promise<number> {
  const { rows } = await sql<{ debit_account_id: string }>`
    select debit_account_id from ledger_expire_holds(${input.now}, ${input.limit})`.execute(tx);
  await publishBalance(tx, [...new Set(rows.map((row) => row.debit_account_id))]);
  return rows.length;
}

/** Releases the whole hold. May be repeated. Throws AppError 'conflict' if it was settled with a charge. */
export async function release(tx: Transaction, input: { holdId: string }): Promise<void> {
  await settle(tx, { holdId: input.holdId, amountMicro: 0n });
}
