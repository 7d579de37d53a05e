import type { Transaction } from '../../platform/db/database.ts';
import { revokeKeys } from './keys/api-keys.ts';
import { listKeys, lockWebAppKey } from './keys/key-queries.ts';
import { renewKey } from './keys/renew-key.ts';
import { deleteUserSessions } from './sessions/session-queries.ts';
import { deleteLinkedMethods, deleteResetLinks } from './sign-in/sign-in-queries.ts';

/**
 * Step: ends all access to an account except with its password: sessions, linked sign-in methods, reset links
 * and API keys. Replaces the web app's API key.
 */
export async function revokeAccess(
  tx: Transaction,
  { userId, serverSecret, now }: { userId: string; serverSecret: string; now: Date },
): Promise<void> {
  await deleteUserSessions(tx, userId);
  await deleteLinkedMethods(tx, userId);
  await deleteResetLinks(tx, userId);
  await revokeAllKeys(tx, { userId, serverSecret, now });
}

/** Step: ends a user's API keys, and creates a new one for the web app. */
export async function revokeAllKeys(
  tx: Transaction,
  { userId, serverSecret, now }: { userId: string; serverSecret: string; now: Date },
): Promise<void> {
  const webAppKey = await lockWebAppKey(tx, userId);
  if (webAppKey) await renewKey(tx, webAppKey, { serverSecret, now, keepOld: false });
  const furtherKeys = (await listKeys(tx, userId)).filter((key) => !key.for_web_app);
  await revokeKeys(tx, furtherKeys, now);
}
