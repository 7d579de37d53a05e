import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { isOperatorAddress } from '../operators.ts';
import { lockAddress, setAddressVerified } from '../queries.ts';
import { recordAudit } from '../record-audit.ts';
import { recordProvenMailbox } from '../returning/returning-users.ts';
import { revokeAccess } from '../revoke-access.ts';
import { serverSecret } from './server-secret.ts';
import { deletePassword } from './sign-in-queries.ts';

/** `own_provider`: a provider that a signed-in user links to their account. */
type Proof = 'provider' | 'own_provider' | 'reset_link';

type Proven = { userId: string; email: string; by: Proof };

/**
 * Gives the account to the person who has proven to own its address, and ends earlier access. The first proof
 * by a provider ends everything including the password; a reset link ends everything except the password.
 * Linking a provider from within the account ends nothing. A reset link does not verify an operator's
 * address, because the server logs links.
 */
export async function proveAddress(
  services: Pick<Services, 'config' | 'db' | 'clock' | 'rowChanges'>,
  proven: Proven,
): Promise<void> {
  await inTransaction(services.db, (tx) => claimAccount(tx, services, proven));
  await services.rowChanges.catchUp();
}

/** Step: `proveAddress` inside a transaction; call `rowChanges.catchUp` after its commit. */
export async function claimAccount(
  tx: Transaction,
  { config, clock }: Pick<Services, 'config' | 'clock'>,
  { userId, email, by }: Proven,
): Promise<void> {
  const user = await lockAddress(tx, userId);
  if (user?.email !== email || (by !== 'reset_link' && user.email_verified)) return;
  if (by === 'provider') await deletePassword(tx, userId);
  if (by !== 'own_provider')
    await revokeAccess(tx, { userId, serverSecret: serverSecret(config), now: clock.now() });
  if (!user.email_verified && (by !== 'reset_link' || !isOperatorAddress(config, user.email))) {
    await setAddressVerified(tx, userId);
    await recordProvenMailbox(tx, { userId, config });
  }
  await recordAudit(tx, { userId, action: 'address.proven', detail: { by } });
}
