import { APIError } from 'better-auth/api';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { lockAddress } from '../queries.ts';
import { recordAudit } from '../record-audit.ts';
import { passwords } from './hash-passwords.ts';
import { takeAccount } from './prove-address.ts';
import { deleteResetLink, findUserOfResetLink, upsertPassword } from './sign-in-queries.ts';

/**
 * Sets a new password with a mailed link, and ends all other access to the account, in one transaction. The
 * library would use up the link before hashing, and end the access after setting the password. Throws the
 * library's error for an invalid link, and AppError 'unavailable' if too many passwords wait.
 */
export async function resetPassword(
  services: Pick<Services, 'config' | 'db' | 'clock' | 'rowChanges'>,
  { newPassword, token }: { newPassword: string; token: string },
): Promise<void> {
  const user = await findUserOfResetLink(services.db, token, new Date());
  if (!user) throw invalidLink();
  const userId = user.id;
  const passwordHash = await passwords.hash(newPassword);
  await inTransaction(services.db, async (tx) => {
    await lockAddress(tx, userId);
    // Another call may have used the link during hashing.
    if (!(await deleteResetLink(tx, token))) throw invalidLink();
    await takeAccount(tx, services, { userId, email: user.email, by: 'reset_link' });
    await upsertPassword(tx, { userId, passwordHash });
    await recordAudit(tx, { userId, action: 'password.reset' });
  });
  await services.rowChanges.catchUp();
}

function invalidLink(): APIError {
  return new APIError('BAD_REQUEST', { code: 'INVALID_TOKEN', message: 'Invalid token' });
}
