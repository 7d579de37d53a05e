import { createHmac, hkdfSync } from 'node:crypto';

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
