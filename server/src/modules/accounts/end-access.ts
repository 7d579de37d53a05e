import type { Transaction } from '../../platform/db/database.ts';
import { endAllKeys } from './end-all-keys.ts';
import { deleteUserSessions } from './sessions/session-queries.ts';
import { deleteLinkedMethods, deleteResetLinks } from './sign-in/sign-in-queries.ts';

/** Step: ends all access to an account except by its password, and replaces the web app's API key. */
export async function endAccess(
  tx: Transaction,
  { userId, serverSecret, now }: { userId: string; serverSecret: string; now: Date },
): Promise<void> {
  await deleteUserSessions(tx, userId);
  await deleteLinkedMethods(tx, userId);
  await deleteResetLinks(tx, userId);
  await endAllKeys(tx, { userId, serverSecret, now });
}
