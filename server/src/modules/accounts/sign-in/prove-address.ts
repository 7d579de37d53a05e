import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { endAccess } from '../end-access.ts';
import { isOperatorAddress } from '../is-operator-address.ts';
import { lockAddress, setAddressVerified } from '../queries.ts';
import { recordAudit } from '../record-audit.ts';
import { rememberProven } from '../returning/remember-proven.ts';
import { serverSecret } from './server-secret.ts';
import { deletePassword } from './sign-in-queries.ts';

/** `own_provider`: linked by who is signed in to the account. */
type Proof = 'provider' | 'own_provider' | 'reset_link';

/**
 * Whoever has just proven that an address is theirs gets its account; `email` is the one that was proven. What opened the account before
 * ends here: for a provider's proof all of it, the password too, unless the address had been proven
 * before; for a reset link all but the password, which is the new one. An operator's address does
 * not count as verified by a link: those lie in the log. Nothing ends where it is proven out of the account itself.
 * `openLink` is the reset link that is about to be used: it stays open, and nothing is noted yet.
 */
export async function proveAddress(
  { config, db, clock, rowChanges }: Pick<Services, 'config' | 'db' | 'clock' | 'rowChanges'>,
  { userId, email, by, openLink }: { userId: string; email: string; by: Proof; openLink?: string },
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const user = await lockAddress(tx, userId);
    if (user?.email !== email || (by !== 'reset_link' && user.email_verified)) return;
    if (by === 'provider') await deletePassword(tx, userId);
    if (by !== 'own_provider')
      await endAccess(tx, { userId, serverSecret: serverSecret(config), now: clock.now(), openLink });
    if (!user.email_verified && (by !== 'reset_link' || !isOperatorAddress(config, user.email))) {
      await setAddressVerified(tx, userId);
      await rememberProven(tx, { userId, config });
    }
    if (!openLink) await recordAudit(tx, { userId, action: 'address.proven', detail: { by } });
  });
  await rowChanges.catchUp();
}
