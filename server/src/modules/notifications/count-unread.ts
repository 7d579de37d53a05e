import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { type countUnread as contract, UNREAD_COUNT_MAX } from '@bakehouse/contract/notifications';
import type { Context } from '../../platform/context.ts';
import { selectUnreadCount } from './queries.ts';

/** Returns the caller's number of unread notifications, capped at `UNREAD_COUNT_MAX`. */
export async function countUnread(ctx: Context): Promise<ResponseOf<typeof contract>> {
  return { unread: await selectUnreadCount(ctx.db, { userId: ctx.caller.userId, max: UNREAD_COUNT_MAX }) };
}
