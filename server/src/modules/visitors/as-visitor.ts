import type { Caller, Context } from '../../platform/context.ts';
import { systemUserId } from '../accounts/ensure-system-user.ts';

/** Whose all is that visitors make, until they keep it. */
export const VISITORS = systemUserId('visitors');

/** The same call, made by the account of all visitors. */
export function asVisitor(ctx: Context<Caller>): Context {
  return { ...ctx, caller: { kind: 'user', userId: VISITORS, isOperator: false }, idempotencyKey: null };
}
