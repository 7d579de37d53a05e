import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The only IPv6 block whose addresses belong to machines on the internet. */
const global6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Returns true for an address of the public internet: not this machine, its network, or a reserved block. */
export function isPublicAddress(address: string): boolean {
  // Reject other notations, such as 127.1, which ipaddr.js accepts.
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(global6));
}
