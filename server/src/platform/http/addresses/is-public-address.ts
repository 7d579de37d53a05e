import { BlockList, isIP } from 'node:net';

/** IPv4 blocks outside the public internet, from IANA's registry of special addresses. */
const special = new BlockList();
for (const block of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]) {
  const [network = '', prefix] = block.split('/');
  special.addSubnet(network, Number(prefix), 'ipv4');
}

/** The only IPv6 block with machine addresses; `tunnels` are its parts that lead to IPv4 or nowhere. */
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');
const tunnels = new BlockList();
tunnels.addSubnet('2001::', 23, 'ipv6');
tunnels.addSubnet('2001:db8::', 32, 'ipv6');
tunnels.addSubnet('2002::', 16, 'ipv6');
tunnels.addSubnet('3fff::', 20, 'ipv6');

/** Returns true for an address of the public internet: not this machine, its network, or reserved. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4');
    case 6:
      return global6.check(address, 'ipv6') && !tunnels.check(address, 'ipv6');
    default:
      return false;
  }
}
