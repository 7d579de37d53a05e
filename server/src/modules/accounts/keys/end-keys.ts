import type { Transaction } from '../../../platform/db/database.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { endKey, type KeyRow } from './key-queries.ts';

/** Step: ends API keys: they are invalid from the commit on, and their open requests end. */
export async function endKeys(
  tx: Transaction,
  keys: Pick<KeyRow, 'id' | 'user_id'>[],
  at: Date,
): Promise<void> {
  for (const { id, user_id: userId } of keys) {
    await endKey(tx, id, at);
    await publishChange(tx, userId, { topic: 'api_key', id });
  }
}
