import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { type countUnread as contract, UNREAD_COUNT_MAX } from '@bakehouse/contract/notifications';
import type { Context } from '../../platform/context.ts';
import { selectUnreadCount } from './queries.ts';

/** How many of the caller's notifications are unread, counted up to the most that is told. */
export async function countUnread(ctx: Context): Promise<ResponseOf<typeof contract>> {
  return { unread: await selectUnreadCount(ctx.db, { userId: ctx.caller.userId, max: UNREAD_COUNT_MAX }) };
}
