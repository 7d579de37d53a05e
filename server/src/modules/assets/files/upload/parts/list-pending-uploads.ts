import type { Transaction } from '../../../../../platform/db/database.ts';
import { selectPending } from './queries.ts';

/** Step: returns a user's uploads with these bytes that are about to become files of an asset. */
export async function listPendingUploads(
  tx: Transaction,
  bytes: { userId: string; sha256s: string[] },
): Promise<string[]> {
  return selectPending(tx, bytes);
}
