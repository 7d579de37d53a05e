import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { shareUser } from '../queries.ts';
import { shareSession } from '../sessions/session-queries.ts';
import { isKeyOpen, type KeyRow, lockKey, lockWebAppKey } from './key-queries.ts';

/** Step: locks and returns the caller's API key with this id. Throws AppError 'not_found'. */
export async function findOwnKey(tx: Transaction, ctx: Context, keyId: string): Promise<KeyRow> {
  const key = await lockKey(tx, { userId: ctx.caller.userId, keyId });
  if (!key) throw keyNotFound();
  return key;
}

/**
 * Step: locks and returns the caller's web app key, so that changes to the user's keys are sequential. Throws
 * AppError 'unauthenticated' if the caller's session or key ended while waiting for the lock.
 */
export async function findOwnWebAppKey(tx: Transaction, { caller, clock }: Context): Promise<KeyRow> {
  const { userId, key, session } = caller;
  // Lock users, sessions and keys in this order, like proofs of an address and deletions.
  await shareUser(tx, userId);
  if (session && !(await shareSession(tx, session.id))) {
    throw new AppError('unauthenticated', { publicMessage: 'Sign in first' });
  }
  const webAppKey = await lockWebAppKey(tx, userId);
  if (key && !(await isKeyOpen(tx, key, clock.now()))) {
    throw new AppError('unauthenticated', { publicMessage: 'This API key is not valid' });
  }
  if (!webAppKey) throw keyNotFound();
  return webAppKey;
}

function keyNotFound(): AppError {
  return new AppError('not_found', { publicMessage: 'API key not found' });
}
