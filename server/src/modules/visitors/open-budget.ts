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
 * Gives the visitors' account what it may spend today, once a day (UTC); what is left at its end expires. Throws AppError
 * 'conflict' where nothing can be tried here.
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

/** Of another amount: the setting was changed since, and counts from tomorrow on. */
function unlessGivenBefore(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'idempotency_conflict')) throw error;
}
