import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import {
  type countUnread as countUnreadEndpoint,
  type listNotifications as listNotificationsEndpoint,
  type Notification,
  type NotificationKind,
  type readNotifications as readNotificationsEndpoint,
  UNREAD_COUNT_MAX,
} from '@bakehouse/contract/notifications';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { notFound, unknownCursor } from '../../platform/errors.ts';
import { publishChange, publishChanges } from '../../platform/events/publish-change.ts';
import { kinds, type NewNotification } from './kinds.ts';
import {
  insertNotifications,
  isNotificationOf,
  type NotificationRow,
  selectNotifications,
  selectUnreadCount,
  setRead,
} from './queries.ts';

/** Returns the caller's number of unread notifications, capped at `UNREAD_COUNT_MAX`. */
export async function countUnread(ctx: Context): Promise<ResponseOf<typeof countUnreadEndpoint>> {
  return { unread: await selectUnreadCount(ctx.db, { userId: ctx.caller.userId, max: UNREAD_COUNT_MAX }) };
}

/** Returns the caller's notifications, newest first. The cursor is the last id of the previous page. */
export async function listNotifications(
  ctx: Context,
  { query }: InputOf<typeof listNotificationsEndpoint>,
): Promise<ResponseOf<typeof listNotificationsEndpoint>> {
  const { userId } = ctx.caller;
  const { cursor, limit } = query;
  if (cursor !== undefined && !(await isNotificationOf(ctx.db, cursor, userId))) throw unknownCursor();
  const rows = await selectNotifications(ctx.db, { userId, cursor, limit });
  return rows.map(toNotification);
}

function toNotification(row: NotificationRow): Notification {
  const kind = row.kind as NotificationKind;
  const data = row.data as Record<string, string>;
  const show = kinds[kind] as (data: Record<string, string>) => ReturnType<(typeof kinds)[NotificationKind]>;
  return {
    notification_id: row.id,
    kind,
    ...show(data),
    generation_id: data.generation_id ?? null,
    amount: data.amount_micro === undefined ? null : formatBgl(BigInt(data.amount_micro)),
    status: row.read_at === null ? 'unread' : 'read',
    created_at: row.created_at.toISOString(),
  };
}

/** Step: notifies users. They receive the event after the transaction commits. */
export async function notify(tx: Transaction, ...notifications: NewNotification[]): Promise<void> {
  if (notifications.length === 0) return;
  await insertNotifications(tx, notifications);
  await publishChanges(
    tx,
    notifications.map(({ userId }) => ({ userId, event: { topic: 'notification', id: userId } })),
  );
}

/**
 * Marks one or all of the caller's notifications as read. Throws AppError 'not_found' for another user's id.
 */
export async function markNotificationsRead(
  ctx: Context,
  { query }: InputOf<typeof readNotificationsEndpoint>,
): Promise<ResponseOf<typeof readNotificationsEndpoint>> {
  const { userId } = ctx.caller;
  const id = query.notification_id === '' ? null : query.notification_id;
  return inTransaction(ctx.db, async (tx) => {
    if (id !== null && !(await isNotificationOf(tx, id, userId))) {
      throw notFound('Notification', 'notification_id');
    }
    await setRead(tx, userId, id);
    await publishChange(tx, userId, { topic: 'notification', id: userId });
    return { unread: await selectUnreadCount(tx, { userId, max: UNREAD_COUNT_MAX }) };
  });
}

/** Deletes the notifications of a deleted user. */
export async function deleteUserNotifications(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('notifications').where('user_id', '=', userId).execute();
}
