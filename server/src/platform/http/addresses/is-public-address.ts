import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The only IPv6 block with machine addresses. */
const global6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Returns true for an address of the public internet: not this machine, its network, or reserved. */
export function isPublicAddress(address: string): boolean {
  // ipaddr.js also reads other notations, such as 127.1.
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(global6));
}
