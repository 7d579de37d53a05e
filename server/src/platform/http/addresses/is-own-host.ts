import { isIP } from 'node:net';
import { hostname } from 'node:os';

/**
 * Whether a Host header names this server: its public URL's, localhost, the machine's own name, or any address in digits. A
 * stranger can have no other name lead here, since a page under it would be one of this server to the browser.
 */
export function isOwnHost(host: string, publicUrl: string): boolean {
  const url = URL.parse(`http://${host}`);
  if (!url) return false;
  if (url.host === URL.parse(publicUrl)?.host) return true;
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const machine = hostname().toLowerCase();
  return isIP(name) !== 0 || /(^|\.)localhost$/.test(name) || name === machine || name === `${machine}.local`;
}
