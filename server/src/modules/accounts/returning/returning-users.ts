import { createHmac, hkdfSync } from 'node:crypto';
import type { Config } from '../../../config.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { lockAddress } from '../queries.ts';
import { serverSecret } from '../sign-in/server-secret.ts';
import { insertKnownAddress, isKnownAddress, setReturning } from './returning-queries.ts';

/** Providers that ignore dots in the local part of an address. */
const DOTLESS = new Set(['gmail.com', 'googlemail.com']);

/** Domains that ignore a plus and the text after it; elsewhere it may be another person's address. */
const PLUSSED = new Set([
  ...DOTLESS,
  ...['outlook.com', 'hotmail.com', 'live.com'],
  ...['icloud.com', 'me.com', 'mac.com'],
  ...['fastmail.com', 'fastmail.fm'],
  ...['proton.me', 'protonmail.com', 'pm.me'],
]);

/** Returns the permanent hash of an address, which reveals nothing without the server's secret. */
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
 * Step: returns true if the user's mailbox had an account before, and remembers the mailbox. It does not
 * remember an address that may belong to a stranger, because it could be verified by mail but is not. Of
 * concurrent accounts with one mailbox, only one counts as the first.
 */
export async function recogniseMailbox(
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
 * Step: remembers the mailbox of a user whose address was just proven, and marks the account as returning if
 * another account proved it before. Without mail, the sign-up already remembered it.
 */
export async function rememberProven(
  tx: Transaction,
  { userId, config }: { userId: string; config: Config },
): Promise<void> {
  if (config.mail && (await recogniseMailbox(tx, { userId, config }))) await setReturning(tx, userId);
}
