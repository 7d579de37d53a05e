import type { Transaction } from '../../platform/db/database.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { encryptApiKey, hashApiKey, makeApiKey } from './api-key.ts';
import { replaceKey } from './queries.ts';

/** Gives a user a new API key, which it answers. The old one is nobody's from the commit on, and its event streams end. */
export async function renewKey(
  tx: Transaction,
  { userId, secret }: { userId: string; secret: string },
): Promise<string> {
  const key = makeApiKey();
  const encrypted = encryptApiKey(key, { userId, secret });
  await replaceKey(tx, { userId, sha256: hashApiKey(key), encrypted });
  await publishChange(tx, userId, { topic: 'api_key', id: userId });
  return key;
}
