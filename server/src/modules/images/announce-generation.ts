import type { Transaction } from '../../platform/db/database.ts';
import { publishChanges, publishSignal } from '../../platform/events/publish-change.ts';
import { type GenerationRow, listWaiting } from './queries.ts';

/** The signal to those who draw that a line has moved. */
export const LINE_MOVED = 'generations:line-moved';

/** Each turn is told to so many: who waits further behind hears of it once the line has moved up. */
const ANNOUNCED_MAX = 10;

/** Step: tells the owner that a generation has changed, and where its line has moved, those who wait first in it and those who draw. */
export async function announceGeneration(
  tx: Transaction,
  { id, user_id, line }: Pick<GenerationRow, 'id' | 'user_id' | 'line'>,
  { lineMoved }: { lineMoved: boolean },
): Promise<void> {
  const waiting = lineMoved ? await listWaiting(tx, { line, limit: ANNOUNCED_MAX }) : [];
  await publishChanges(tx, [
    { userId: user_id, event: { topic: 'generation', id } },
    ...waiting.map((one) => ({ userId: one.userId, event: { topic: 'generation' as const, id: one.id } })),
  ]);
  if (lineMoved) await publishSignal(tx, LINE_MOVED);
}
