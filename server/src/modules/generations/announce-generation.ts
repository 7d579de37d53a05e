import type { Transaction } from '../../platform/db/database.ts';
import { publishChanges, publishSignal } from '../../platform/events/publish-change.ts';
import { type GenerationRow, listWaiting } from './queries.ts';

/** Notifies the generation loops that a queue has changed. */
export const QUEUE_MOVED = 'generations:queue-moved';

/** Users notified per queue change; users further back are notified once the queue has moved up. */
const ANNOUNCED_MAX = 10;

/**
 * Step: notifies the owner of a changed generation and, if its queue moved, the first waiting users and the
 * generation loops.
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
