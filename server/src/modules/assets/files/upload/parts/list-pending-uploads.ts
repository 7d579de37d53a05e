import type { Transaction } from '../../../../../platform/db/database.ts';
import { selectPending } from './queries.ts';

/** Step: the uploads of a user that have these bytes, and are about to become files of an asset. */
export async function listPendingUploads(
  tx: Transaction,
  bytes: { userId: string; sha256s: string[] },
): Promise<string[]> {
  return selectPending(tx, bytes);
}
