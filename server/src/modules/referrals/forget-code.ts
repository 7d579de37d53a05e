import type { Transaction } from '../../platform/db/database.ts';
import { deleteCode } from './queries.ts';

/** Step: a deleted user invites nobody any more. Who came by the code, and the bonus, stay as they are. */
export async function forgetCode(tx: Transaction, userId: string): Promise<void> {
  await deleteCode(tx, userId);
}
