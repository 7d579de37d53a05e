import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { getXAuthStatus as endpoint } from '@bakehouse/contract/referrals';
import type { Context } from '../../../platform/context.ts';
import { findXAccount } from './x-queries.ts';

/** Whether the caller's invitation can be posted from here, and in whose name. */
export async function getXAuthStatus({ config, db, caller }: Context): Promise<ResponseOf<typeof endpoint>> {
  if (!config.x) return { status: 'not_configured', username: null };
  const account = await findXAccount(db, caller.userId);
  return account
    ? { status: 'connected', username: account.username }
    : { status: 'not_connected', username: null };
}
