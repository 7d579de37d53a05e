import type { Transaction } from '../../../platform/db/database.ts';
import { setPurged } from './deletion-queries.ts';

/** Step: nothing is left to remove of a deleted user; nobody looks again. */
export async function markPurged(
  tx: Transaction,
  { userId, now }: { userId: string; now: Date },
): Promise<void> {
  await setPurged(tx, userId, now);
}
