import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { shareUser } from '../queries.ts';
import { shareSession } from '../sessions/session-queries.ts';
import { isKeyOpen, type KeyRow, lockKey, lockWebAppKey } from './key-queries.ts';

/** Step: the caller's API key with this id, locked. Throws AppError 'not_found'. */
export async function findOwnKey(tx: Transaction, ctx: Context, keyId: string): Promise<KeyRow> {
  const key = await lockKey(tx, { userId: ctx.caller.userId, keyId });
  if (!key) throw keyNotFound();
  return key;
}

/**
 * Step: the key of the caller's web app, locked, so that changes to the user's keys come one after the other. Throws
 * AppError 'unauthenticated' where the caller's session or key was ended while the call waited for the lock.
 */
export async function findOwnWebAppKey(tx: Transaction, { caller, clock }: Context): Promise<KeyRow> {
  const { userId, key, session } = caller;
  // User, sessions, keys: in this order a proof of the address takes them, and a deletion.
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
