import type { Transaction } from '../../platform/db/database.ts';
import { deleteLinkedMethods, deleteResetLinks, deleteUserSessions } from './queries.ts';
import { renewKey } from './renew-key.ts';

/**
 * Ends what opens an account beside its password: sessions, linked sign-in methods, reset links that
 * are still open, and the API key, in whose place comes a new one.
 */
export async function endAccess(tx: Transaction, input: { userId: string; secret: string }): Promise<void> {
  const { userId } = input;
  await deleteUserSessions(tx, userId);
  await deleteLinkedMethods(tx, userId);
  await deleteResetLinks(tx, userId);
  await renewKey(tx, input);
}
