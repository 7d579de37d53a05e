import type { Transaction } from '../../platform/db/database.ts';
import type { NotificationData } from './kinds.ts';
import { notify } from './notify.ts';
import { selectUnreadCount } from './queries.ts';

/** Stop adding notifications above this count: shared assets are in the lists anyway. */
const UNREAD_MAX = 20;

/** Step: notifies a user that a dataset or model was shared with them. */
export async function notifyOfShare(
  tx: Transaction,
  { userId, ...data }: { userId: string } & NotificationData['asset_shared'],
): Promise<void> {
  const kind = 'asset_shared';
  const unread = await selectUnreadCount(tx, { userId, kinds: [kind], max: UNREAD_MAX });
  if (unread < UNREAD_MAX) await notify(tx, { userId, kind, data });
}
