import type { Transaction } from '../../platform/db/database.ts';
import { endKeys } from './keys/end-keys.ts';
import { listKeys, lockWebAppKey } from './keys/key-queries.ts';
import { renewKey } from './keys/renew-key.ts';
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
  const webAppKey = await lockWebAppKey(tx, userId);
  if (webAppKey) await renewKey(tx, webAppKey, { serverSecret, now, keepOld: false });
  const furtherKeys = (await listKeys(tx, userId)).filter((key) => !key.for_web_app);
  await endKeys(tx, furtherKeys, now);
}
