import { randomBytes } from 'node:crypto';
import { hashPassword } from 'better-auth/crypto';
import type { Services } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { endAccess } from './end-access.ts';
import { isOperatorAddress } from './is-operator-address.ts';
import { upsertVerifiedUser } from './queries.ts';
import { recordAudit } from './record-audit.ts';
import { serverSecret } from './sign-in/server-secret.ts';
import { upsertPassword } from './sign-in/sign-in-queries.ts';

/**
 * Creates a verified account with a new password for an operator's address, and returns the password. An
 * existing account with the address may belong to a stranger: its sessions, password, linked sign-in methods
 * and API keys end. A new account is completed by its first session. Throws AppError 'invalid_request' for an
 * address that is not in the settings.
 */
export async function makeOperator(
  { config, db, clock }: Pick<Services, 'config' | 'db' | 'clock'>,
  input: { email: string },
): Promise<{ password: string }> {
  const email = input.email.toLowerCase();
  if (!isOperatorAddress(config, email)) {
    throw new AppError('invalid_request', {
      publicMessage: `BAKEHOUSE_OPERATORS does not name ${email}. Set it in .env, which the server and this command both read, and restart the server`,
    });
  }
  const password = randomBytes(18).toString('base64url');
  const passwordHash = await hashPassword(password);
  await inTransaction(db, async (tx) => {
    const userId = await upsertVerifiedUser(tx, email);
    await upsertPassword(tx, { userId, passwordHash });
    await endAccess(tx, { userId, serverSecret: serverSecret(config), now: clock.now() });
    await recordAudit(tx, { userId, action: 'operator.made' });
  });
  return { password };
}
