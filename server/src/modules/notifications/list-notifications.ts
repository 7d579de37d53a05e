import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type {
  listNotifications as contract,
  Notification,
  NotificationKind,
} from '@bakehouse/contract/notifications';
import type { Context } from '../../platform/context.ts';
import { unknownCursor } from '../../platform/unknown-cursor.ts';
import { kinds } from './kinds.ts';
import { isNotificationOf, type NotificationRow, selectNotifications } from './queries.ts';

/** Returns the caller's notifications, newest first. The cursor is the last id of the previous page. */
export async function listNotifications(
  ctx: Context,
  { query }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
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
