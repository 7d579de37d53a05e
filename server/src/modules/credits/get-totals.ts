import type { Database } from '../../platform/db/database.ts';
import { getUserTotals } from './queries.ts';

/** What a user has, in micro-BGL: all of it, the part that was given, what is held, and what is owed. */
export async function getTotals(
  db: Database,
  userId: string,
): Promise<{ balance: bigint; held: bigint; given: bigint; owed: bigint }> {
  return getUserTotals(db, userId);
}
