import type { Transaction } from '../../platform/db/database.ts';
import { deleteCode } from './queries.ts';
import { deleteXAccount, deleteXPost } from './x/x-queries.ts';

/**
 * Step: a deleted user invites nobody any more, and posts nothing on X. Who came by the code, and the bonus, stay as
 * they are.
 */
export async function forgetCode(tx: Transaction, userId: string): Promise<void> {
  await deleteCode(tx, userId);
  await deleteXAccount(tx, userId);
  await deleteXPost(tx, userId);
}
