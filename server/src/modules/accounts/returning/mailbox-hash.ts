import { createHmac, hkdfSync } from 'node:crypto';

/** Whose providers deliver an address with dots to the same mailbox as without. */
const DOTLESS = new Set(['gmail.com', 'googlemail.com']);

/**
 * What is kept of an address for good: it tells whether the same mailbox comes again, and not whose it is to anybody
 * without the server's secret.
 */
export function mailboxHash(email: string, serverSecret: string): Buffer {
  const key = Buffer.from(hkdfSync('sha256', serverSecret, '', 'bakehouse known addresses', 32));
  return createHmac('sha256', key).update(mailboxOf(email)).digest();
}

/** The one spelling of all addresses that reach the same mailbox: in small letters, without what follows a plus. */
function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1).toLowerCase();
  const [local = ''] = email.slice(0, at).toLowerCase().split('+');
  const isDotless = DOTLESS.has(domain);
  return `${isDotless ? local.replaceAll('.', '') : local}@${isDotless ? 'gmail.com' : domain}`;
}
