import type { AuditAction } from '@bakehouse/contract/audit';
import type { Config } from '../../config.ts';
import type { Services } from '../../platform/context.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { sendMail } from '../../platform/mail/mail.ts';
import type { Mail } from '../../platform/mail/queries.ts';
import { countRecentAudit, lockAddress } from './queries.ts';
import { recordAudit } from './record-audit.ts';

/** Maximum mails of one kind per account and hour. */
const MAILS_PER_HOUR = 3;

/**
 * Returns true if `handle` is an unverified email address on a server that sends mail. Such an account may
 * not belong to the owner of the address.
 */
export async function isUnprovenAddress(
  db: Database | Transaction,
  { mail }: Pick<Config, 'mail'>,
  handle: string,
): Promise<boolean> {
  if (!handle.includes('@') || mail === null) return false;
  const owner = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', handle.toLowerCase())
    .where('email_verified', '=', true)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return owner === undefined;
}

/**
 * Sends a mail that any visitor can request for an address, and records it in the audit log. Above the limit,
 * it sends nothing but returns as usual. The limit prevents visitors from flooding a mailbox.
 */
export async function mailOnRequest(
  services: Services,
  { userId, action, mail }: { userId: string; action: AuditAction; mail: Mail },
): Promise<void> {
  await inTransaction(services.db, async (tx) => {
    // The lock makes concurrent calls count each other's mails.
    await lockAddress(tx, userId);
    if ((await countRecentAudit(tx, userId, action)) >= MAILS_PER_HOUR) return;
    await recordAudit(tx, { userId, action });
    await sendMail(tx, services, mail);
  });
}
