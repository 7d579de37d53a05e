import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { type KeyRow, lockKey } from './key-queries.ts';

/** Step: the caller's API key with this id, locked. Throws AppError 'not_found'. */
export async function findOwnKey(tx: Transaction, ctx: Context, keyId: string): Promise<KeyRow> {
  const key = await lockKey(tx, { userId: ctx.caller.userId, keyId });
  if (!key) throw keyNotFound();
  return key;
}

export function keyNotFound(): AppError {
  return new AppError('not_found', { publicMessage: 'API key not found' });
}
