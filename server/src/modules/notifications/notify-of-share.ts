import type { Transaction } from '../../platform/db/database.ts';
import type { NotificationData } from './kinds.ts';
import { notify } from './notify.ts';
import { selectUnreadCount } from './queries.ts';

/** While so many of these are unread, no more are made: what is shared is in the lists all the same. */
const UNREAD_MAX = 20;

/** Step: tells a user that a dataset or model was shared with them. */
export async function notifyOfShare(
  tx: Transaction,
  { userId, ...data }: { userId: string } & NotificationData['asset_shared'],
): Promise<void> {
  const kind = 'asset_shared';
  const unread = await selectUnreadCount(tx, { userId, kinds: [kind], max: UNREAD_MAX });
  if (unread < UNREAD_MAX) await notify(tx, { userId, kind, data });
}
