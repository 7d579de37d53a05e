import type { Transaction } from '../../platform/db/database.ts';
import { endKeys } from './keys/end-keys.ts';
import { listKeys, lockWebAppKey } from './keys/key-queries.ts';
import { renewKey } from './keys/renew-key.ts';

/** Step: ends a user's API keys, and creates a new one for the web app. */
export async function endAllKeys(
  tx: Transaction,
  { userId, serverSecret, now }: { userId: string; serverSecret: string; now: Date },
): Promise<void> {
  const webAppKey = await lockWebAppKey(tx, userId);
  if (webAppKey) await renewKey(tx, webAppKey, { serverSecret, now, keepOld: false });
  const furtherKeys = (await listKeys(tx, userId)).filter((key) => !key.for_web_app);
  await endKeys(tx, furtherKeys, now);
}
