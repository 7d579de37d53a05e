import type { Transaction } from '../../platform/db/database.ts';
import { publishChanges, publishSignal } from '../../platform/events/publish-change.ts';
import { type GenerationRow, listWaiting } from './queries.ts';

/** The signal to the generation loops that a queue has moved. */
export const QUEUE_MOVED = 'generations:queue-moved';

/** Each turn is told to so many: who waits further behind hears of it once the queue has moved up. */
const ANNOUNCED_MAX = 10;

/** Step: tells the owner that a generation has changed, and where its queue has moved, those who wait first in it and the generation loops. */
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
