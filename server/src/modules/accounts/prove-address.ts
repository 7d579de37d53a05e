import type { Services } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { endAccess } from './end-access.ts';
import { isOperatorAddress } from './is-operator.ts';
import { deletePassword, lockAddress, setAddressVerified } from './queries.ts';
import { recordAudit } from './record-audit.ts';
import { serverSecret } from './server-secret.ts';

type Proof = 'provider' | 'reset_link';

/**
 * Whoever has just proven that an address is theirs gets its account. What opened the account before
 * ends here: for a provider's proof all of it, the password too, unless the address had been proven
 * before; for a reset link all but the password, which is the new one. An operator's address does
 * not count as verified by a link: those lie in the log.
 */
export async function proveAddress(
  { config, db, clock }: Pick<Services, 'config' | 'db' | 'clock'>,
  { userId, by }: { userId: string; by: Proof },
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const user = await lockAddress(tx, userId);
    if (!user || (by === 'provider' && user.email_verified)) return;
    if (by === 'provider') await deletePassword(tx, userId);
    await endAccess(tx, { userId, serverSecret: serverSecret(config), now: clock.now() });
    if (by === 'provider' || !isOperatorAddress(config, user.email)) await setAddressVerified(tx, userId);
    await recordAudit(tx, { userId, action: 'address.proven', detail: { by } });
  });
}
