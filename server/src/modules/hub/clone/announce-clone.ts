import type { Transaction } from '../../../platform/db/database.ts';
import { publishChange, publishSignal } from '../../../platform/events/publish-change.ts';
import type { CloneRow } from './clones-table.ts';

/** Wakes the clone loops: a clone is waiting, or a place is free. */
export const CLONES_MOVED = 'clones:moved';

/** Step: notifies the owner that a clone has changed, and wakes the clone loops. */
export async function announceClone(
  tx: Transaction,
  { id, user_id: userId }: Pick<CloneRow, 'id' | 'user_id'>,
): Promise<void> {
  await publishChange(tx, userId, { topic: 'clone', id });
  await publishSignal(tx, CLONES_MOVED);
}
