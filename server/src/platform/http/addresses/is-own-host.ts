import { isIP } from 'node:net';
import { hostname } from 'node:os';

/**
 * Returns true if a Host header names this server: its public URL's host, localhost, the machine's own name,
 * or any numeric address. Other names could lead here by DNS rebinding, and their pages would share this
 * server's origin.
 */
export function isOwnHost(host: string, publicUrl: string): boolean {
  const url = URL.parse(`http://${host}`);
  if (!url) return false;
  if (url.host === URL.parse(publicUrl)?.host) return true;
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const machine = hostname().toLowerCase();
  return isIP(name) !== 0 || /(^|\.)localhost$/.test(name) || name === machine || name === `${machine}.local`;
}
