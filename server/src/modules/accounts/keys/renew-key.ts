import { OLD_KEY_HOURS } from '@bakehouse/contract/limits';
import type { Transaction } from '../../../platform/db/database.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { encryptApiKey, hashApiKey, makeApiKey } from './api-key.ts';
import { type KeyRow, replaceSecret } from './key-queries.ts';

/**
 * Replaces the secret of an API key and returns it. With `keepOld`, the old secret stays valid for a day.
 * Otherwise it is invalid after the commit, and its open requests end.
 */
export async function renewKey(
  tx: Transaction,
  key: Pick<KeyRow, 'id' | 'user_id' | 'for_web_app'>,
  { serverSecret, now, keepOld }: { serverSecret: string; now: Date; keepOld: boolean },
): Promise<string> {
  const secret = makeApiKey();
  const owner = { userId: key.user_id, secret: serverSecret };
  await replaceSecret(tx, key.id, {
    sha256: hashApiKey(secret),
    encrypted: key.for_web_app ? encryptApiKey(secret, owner) : null,
    oldUntil: keepOld ? new Date(now.getTime() + OLD_KEY_HOURS * 3_600_000) : null,
  });
  await publishChange(tx, key.user_id, { topic: 'api_key', id: key.id });
  return secret;
}
