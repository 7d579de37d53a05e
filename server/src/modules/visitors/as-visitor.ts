import type { Caller, Context } from '../../platform/context.ts';
import { systemUserId } from '../accounts/ensure-system-user.ts';

/** System account that owns visitors' generations until they are claimed. */
export const VISITORS = systemUserId('visitors');

/** Returns the context of the same call made by the visitors' account. */
export function asVisitor(ctx: Context<Caller>): Context {
  return { ...ctx, caller: { kind: 'user', userId: VISITORS, isOperator: false }, idempotencyKey: null };
}
