import { exceededBudget } from '@bakehouse/contract/errors';
import { formatBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import * as z from 'zod';
import type { Transaction } from '../../../../platform/db/database.ts';
import { AppError } from '../../../../platform/errors.ts';

/** The SQLSTATE of the trigger `ledger_holds_count_for_key`. */
const BUDGET_EXCEEDED = 'BK402';
const detail = exceededBudget.extend({ required: z.string() });

/**
 * Runs a ledger call that may raise a hold. If the key's budget does not cover it, rolls it back, leaves the
 * transaction usable, and throws AppError 'budget_exceeded'.
 */
export async function withinBudget<T>(tx: Transaction, move: () => Promise<T>): Promise<T> {
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
