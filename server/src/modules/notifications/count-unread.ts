import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { countUnread as contract } from '@bakehouse/contract/notifications';
import type { Context } from '../../platform/context.ts';
import { selectUnreadCount } from './queries.ts';

/** How many of the caller's notifications are unread. */
export async function countUnread(ctx: Context): Promise<ResponseOf<typeof contract>> {
  return { unread: await selectUnreadCount(ctx.db, ctx.caller.userId) };
}
