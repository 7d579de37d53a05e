import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { getXAuthStatus as endpoint } from '@bakehouse/contract/referrals';
import type { Context } from '../../../platform/context.ts';
import { findXAccount } from './x-queries.ts';

/** Returns whether the caller can post an invitation, and as which X user. */
export async function getXAuthStatus({ config, db, caller }: Context): Promise<ResponseOf<typeof endpoint>> {
  if (!config.x) return { status: 'not_configured', username: null };
  const account = await findXAccount(db, caller.userId);
  return account
    ? { status: 'connected', username: account.username }
    : { status: 'not_connected', username: null };
}
