import type { Transaction } from '../../platform/db/database.ts';
import { publishChanges, publishSignal } from '../../platform/events/publish-change.ts';
import { type GenerationRow, listWaiting } from './queries.ts';

/** Notifies the generation loops that a queue has changed. */
export const QUEUE_MOVED = 'generations:queue-moved';

/**
 * Maximum number of waiting users that one queue change notifies. Later users are notified when they move up.
 */
const ANNOUNCED_MAX = 10;

/**
 * Step: notifies the owner of a changed generation. If its queue moved, also notifies the first waiting users
 * and the generation loops.
 */
export async function announceGeneration(
  tx: Transaction,
  { id, user_id, queue }: Pick<GenerationRow, 'id' | 'user_id' | 'queue'>,
  { queueMoved }: { queueMoved: boolean },
): Promise<void> {
  const waiting = queueMoved ? await listWaiting(tx, { queue, limit: ANNOUNCED_MAX }) : [];
  await publishChanges(tx, [
    { userId: user_id, event: { topic: 'generation', id } },
    ...waiting.map((one) => ({ userId: one.userId, event: { topic: 'generation' as const, id: one.id } })),
  ]);
  if (queueMoved) await publishSignal(tx, QUEUE_MOVED);
}
