import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { type readNotifications as contract, UNREAD_COUNT_MAX } from '@bakehouse/contract/notifications';
import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { isNotificationOf, selectUnreadCount, setRead } from './queries.ts';

/**
 * Marks one or all of the caller's notifications as read. Throws AppError 'not_found' for another user's id.
 */
export async function readNotifications(
  ctx: Context,
  { query }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const { userId } = ctx.caller;
  const id = query.notification_id === '' ? null : query.notification_id;
  return inTransaction(ctx.db, async (tx) => {
    if (id !== null && !(await isNotificationOf(tx, id, userId))) {
      throw new AppError('not_found', {
        publicMessage: 'Notification not found',
        param: 'notification_id',
      });
    }
    await setRead(tx, userId, id);
    await publishChange(tx, userId, { topic: 'notification', id: userId });
    return { unread: await selectUnreadCount(tx, { userId, max: UNREAD_COUNT_MAX }) };
  });
}
