import { createHmac, hkdfSync } from 'node:crypto';
import type { Config } from '../../../config.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { lockAddress } from '../queries.ts';
import { serverSecret } from '../sign-in/server-secret.ts';
import { insertKnownAddress, isKnownAddress, setReturning } from './returning-queries.ts';

/** Providers that ignore dots in the local part of an address. */
const DOTLESS = new Set(['gmail.com', 'googlemail.com']);

/**
 * Domains that ignore a plus and the text after it. At other domains, `a+b` may be another person's address
 * than `a`.
 */
const PLUSSED = new Set([
  ...DOTLESS,
  ...['outlook.com', 'hotmail.com', 'live.com'],
  ...['icloud.com', 'me.com', 'mac.com'],
  ...['fastmail.com', 'fastmail.fm'],
  ...['proton.me', 'protonmail.com', 'pm.me'],
]);

/** Returns a hash that identifies an address permanently. Without the server's secret, it reveals nothing. */
export function mailboxHash(email: string, secret: string): Buffer {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'bakehouse known addresses', 32));
  return createHmac('sha256', key).update(mailboxOf(email)).digest();
}

/** Returns the canonical spelling of all addresses that reach the same mailbox, in lower case. */
function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1).toLowerCase();
  const name = email.slice(0, at).toLowerCase();
  const local = PLUSSED.has(domain) ? name.replace(/\+.*/, '') : name;
  const isDotless = DOTLESS.has(domain);
  return `${isDotless ? local.replaceAll('.', '') : local}@${isDotless ? 'gmail.com' : domain}`;
}

/**
 * Step: returns true if the user's mailbox had an account before, and records the mailbox. If the server
 * sends mail and the address is unverified, it records nothing, because the address may belong to another
 * person. If accounts with one mailbox are created concurrently, only one of them counts as the first.
 */
export async function recordMailbox(
  tx: Transaction,
  { userId, config }: { userId: string; config: Config },
): Promise<boolean> {
  const user = await lockAddress(tx, userId);
  if (!user) throw new Error(`User ${userId} does not exist`);
  const hash = mailboxHash(user.email, serverSecret(config));
  if (config.mail && !user.email_verified) return isKnownAddress(tx, hash);
  return !(await insertKnownAddress(tx, hash));
}

/**
 * Step: records the mailbox of a user whose address was just verified. Marks the account as returning if an
 * earlier account had this mailbox. If the server sends no mail, the sign-up has already recorded it.
 */
export async function recordProvenMailbox(
  tx: Transaction,
  { userId, config }: { userId: string; config: Config },
): Promise<void> {
  if (config.mail && (await recordMailbox(tx, { userId, config }))) await setReturning(tx, userId);
}
