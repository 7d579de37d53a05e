import type { NotificationKind } from '@bakehouse/contract/notifications';
import type { Transaction } from '../../platform/db/database.ts';
import { publishChanges } from '../../platform/events/publish-change.ts';
import type { NotificationData } from './kinds.ts';
import { insertNotifications } from './queries.ts';

/** Whom to notify, of what kind, and what the sentence of that kind is made of. */
export type NewNotification = {
  [Kind in NotificationKind]: { userId: string; kind: Kind; data: NotificationData[Kind] };
}[NotificationKind];

/** Step: notifies users. They hear of it once the transaction has committed. */
export async function notify(tx: Transaction, ...notifications: NewNotification[]): Promise<void> {
  if (notifications.length === 0) return;
  await insertNotifications(tx, notifications);
  await publishChanges(
    tx,
    notifications.map(({ userId }) => ({ userId, event: { topic: 'notification', id: userId } })),
  );
}
