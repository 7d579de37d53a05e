import type { Services } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { encryptApiKey, hashApiKey, makeApiKey } from './keys/api-key.ts';
import { findEncryptedKey, insertWebAppKey } from './keys/key-queries.ts';
import { lockAddress } from './queries.ts';
import { recordAudit } from './record-audit.ts';
import { recogniseMailbox } from './returning/recognise-mailbox.ts';
import { setReturning } from './returning/returning-queries.ts';
import { serverSecret } from './sign-in/server-secret.ts';

/**
 * A handler that another module runs for every new user, in the transaction that completes the user.
 * `isReturning`: the mailbox had an account before.
 */
export type OnUserCreated = (
  tx: Transaction,
  input: { userId: string; isReturning: boolean },
) => Promise<unknown>;

/**
 * Completes a user that the sign-in library has inserted: creates the API key and runs the modules' handlers
 * in one transaction. Does nothing for a complete user, so it also repairs users whose sign-up was
 * interrupted.
 */
export async function provisionUser(
  services: Services,
  input: { userId: string; onUserCreated: OnUserCreated[] },
): Promise<void> {
  const { userId, onUserCreated } = input;
  if (await findEncryptedKey(services.db, userId)) return;
  const key = makeApiKey();
  const secret = serverSecret(services.config);
  const encrypted = encryptApiKey(key, { userId, secret });
  await inTransaction(services.db, async (tx) => {
    // Serialise concurrent sessions that complete the same user.
    await lockAddress(tx, userId);
    const isNew = await insertWebAppKey(tx, { userId, sha256: hashApiKey(key), encrypted });
    if (!isNew) return;
    const isReturning = await recogniseMailbox(tx, { userId, config: services.config });
    if (isReturning) await setReturning(tx, userId);
    for (const handler of onUserCreated) await handler(tx, { userId, isReturning });
    await recordAudit(tx, { userId, action: 'user.created' });
  });
}
