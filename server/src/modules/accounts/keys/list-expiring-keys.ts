import type { Transaction } from '../../../platform/db/database.ts';
import { selectExpiringKeys } from './key-queries.ts';

/** Step: the API keys that open now and end by `until`, with their owners. */
export async function listExpiringKeys(
  tx: Transaction,
  period: { now: Date; until: Date },
): Promise<{ keyId: string; userId: string; name: string; expiresAt: Date }[]> {
  return selectExpiringKeys(tx, period);
}
