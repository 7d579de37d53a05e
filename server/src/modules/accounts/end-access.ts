import type { Transaction } from '../../platform/db/database.ts';
import { endAllKeys } from './end-all-keys.ts';
import { deleteUserSessions } from './sessions/session-queries.ts';
import { deleteLinkedMethods, deleteResetLinks } from './sign-in/sign-in-queries.ts';

/**
 * Ends what opens an account beside its password: sessions, linked sign-in methods, reset links that
 * are still open, but for `openLink`, and the API keys; in place of the web app's comes a new one.
 */
export async function endAccess(
  tx: Transaction,
  {
    userId,
    serverSecret,
    now,
    openLink,
  }: { userId: string; serverSecret: string; now: Date; openLink?: string | undefined },
): Promise<void> {
  await deleteUserSessions(tx, userId);
  await deleteLinkedMethods(tx, userId);
  await deleteResetLinks(tx, userId, { except: openLink });
  await endAllKeys(tx, { userId, serverSecret, now });
}
