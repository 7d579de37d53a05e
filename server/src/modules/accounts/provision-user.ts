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

/** What other modules do for every new user, inside the transaction that completes the user. `isReturning`: the mailbox had an account before. */
export type OnUserCreated = (
  tx: Transaction,
  input: { userId: string; isReturning: boolean },
) => Promise<unknown>;

/**
 * Completes a user whom the sign-in library has just inserted: makes the API key and runs the
 * modules' handlers, all in one transaction. Does nothing for a complete user, so it is also
 * how a user is healed whose sign-up was cut between the two transactions.
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
    // Sessions that complete one user at the same time come one after the other.
    await lockAddress(tx, userId);
    const isNew = await insertWebAppKey(tx, { userId, sha256: hashApiKey(key), encrypted });
    if (!isNew) return;
    const isReturning = await recogniseMailbox(tx, { userId, config: services.config });
    if (isReturning) await setReturning(tx, userId);
    for (const handler of onUserCreated) await handler(tx, { userId, isReturning });
    await recordAudit(tx, { userId, action: 'user.created' });
  });
}
