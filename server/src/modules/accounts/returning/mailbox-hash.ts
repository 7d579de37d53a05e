import { createHmac, hkdfSync } from 'node:crypto';

/** Whose providers deliver an address with dots to the same mailbox as without. */
const DOTLESS = new Set(['gmail.com', 'googlemail.com']);
/** Domains that ignore a plus and what follows it; elsewhere it may be another person's address. */
const PLUSSED = new Set([
  ...DOTLESS,
  ...['outlook.com', 'hotmail.com', 'live.com'],
  ...['icloud.com', 'me.com', 'mac.com'],
  ...['fastmail.com', 'fastmail.fm'],
  ...['proton.me', 'protonmail.com', 'pm.me'],
]);

/**
 * What is kept of an address for good: it tells whether the same mailbox comes again, and not whose it is to anybody
 * without the server's secret.
 */
export function mailboxHash(email: string, serverSecret: string): Buffer {
  const key = Buffer.from(hkdfSync('sha256', serverSecret, '', 'bakehouse known addresses', 32));
  return createHmac('sha256', key).update(mailboxOf(email)).digest();
}

/** The one spelling of all addresses that are known to reach the same mailbox, in small letters. */
function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1).toLowerCase();
  const name = email.slice(0, at).toLowerCase();
  const local = PLUSSED.has(domain) ? name.replace(/\+.*/, '') : name;
  const isDotless = DOTLESS.has(domain);
  return `${isDotless ? local.replaceAll('.', '') : local}@${isDotless ? 'gmail.com' : domain}`;
}
