import type { NotificationKind } from '@bakehouse/contract/notifications';
import type { Transaction } from '../../platform/db/database.ts';
import type { NotificationData } from './kinds.ts';
import { notify } from './notifications.ts';
import { selectUnreadCount } from './queries.ts';

/** No notification for generations that take less time: their owner is still watching. */
const LONG_S = 30;

/**
 * No notification if this many are unread: they would hide other notifications, and the gallery shows all
 * generations.
 */
const UNREAD_MAX = 20;

/** No notification if this many are unread: the lists show shared assets anyway. */
const NOTIFY_OF_SHARE_UNREAD_MAX = 20;

type EndedGeneration = {
  userId: string;
  generationId: string;
  /** Display name of the generator. */
  generator: string;
  state: 'completed' | 'failed' | 'cancelled';
  askedAt: Date;
  endedAt: Date;
};

/** Step: notifies the owner that a long generation has completed or failed, but not if they cancelled it. */
export async function notifyOfGeneration(tx: Transaction, ended: EndedGeneration): Promise<void> {
  const { userId, generationId, generator, state, askedAt, endedAt } = ended;
  if (state === 'cancelled' || endedAt.getTime() - askedAt.getTime() <= LONG_S * 1000) return;
  const kinds: NotificationKind[] = ['generation_completed', 'generation_failed'];
  const unread = await selectUnreadCount(tx, { userId, kinds, max: UNREAD_MAX });
  if (unread >= UNREAD_MAX) return;
  await notify(tx, {
    userId,
    kind: state === 'completed' ? 'generation_completed' : 'generation_failed',
    data: { generation_id: generationId, generator },
  });
}

/** Step: notifies a user that a dataset or model was shared with them. */
export async function notifyOfShare(
  tx: Transaction,
  { userId, ...data }: { userId: string } & NotificationData['asset_shared'],
): Promise<void> {
  const kind = 'asset_shared';
  const unread = await selectUnreadCount(tx, { userId, kinds: [kind], max: NOTIFY_OF_SHARE_UNREAD_MAX });
  if (unread < NOTIFY_OF_SHARE_UNREAD_MAX) await notify(tx, { userId, kind, data });
}
