import type { Transaction } from '../../platform/db/database.ts';
import { publishChanges } from '../../platform/events/publish-change.ts';
import type { NewNotification } from './kinds.ts';
import { insertNotifications } from './queries.ts';

/** Step: notifies users. They receive the event after the transaction commits. */
export async function notify(tx: Transaction, ...notifications: NewNotification[]): Promise<void> {
  if (notifications.length === 0) return;
  await insertNotifications(tx, notifications);
  await publishChanges(
    tx,
    notifications.map(({ userId }) => ({ userId, event: { topic: 'notification', id: userId } })),
  );
}
