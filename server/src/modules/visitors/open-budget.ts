import { parseBgl } from '@bakehouse/contract/money';
import type { Services } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { ensureSystemUser } from '../accounts/ensure-system-user.ts';
import { giveCredits } from '../credits/ledger/give-credits.ts';
import { openUserAccount } from '../credits/ledger/open-user-account.ts';
import { VISITORS } from './as-visitor.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Grants the visitors' account today's budget, once per day (UTC); the rest expires at midnight. Throws
 * AppError 'conflict' if visitor access is disabled.
 */
export async function openBudget({
  db,
  clock,
  config,
}: Pick<Services, 'db' | 'clock' | 'config'>): Promise<void> {
  const amountMicro = parseBgl(config.visitorBudgetBgl);
  if (amountMicro === 0n)
    throw new AppError('conflict', {
      publicMessage: 'Sign up to try it: this server has no tries without an account',
    });
  const day = clock.now().toISOString().slice(0, 10);
  await inTransaction(db, async (tx) => {
    await ensureSystemUser(tx, { id: VISITORS, name: 'Visitors' });
    await openUserAccount(tx, { userId: VISITORS, grantMicro: 0n });
    await giveCredits(tx, {
      userId: VISITORS,
      amountMicro,
      description: `Tries without an account on ${day}`,
      idempotencyKey: `visitors:${day}`,
      sendable: false,
      expiresAt: new Date(Date.parse(day) + DAY_MS),
    }).catch(unlessGivenBefore);
  });
}

/** The setting changed today; the new amount applies from tomorrow. */
function unlessGivenBefore(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'idempotency_conflict')) throw error;
}
