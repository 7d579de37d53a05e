import type { PinServiceName } from '@bakehouse/contract/ipfs';
import type { Config } from '../../../config.ts';

/** Returns the names of the configured pin services. */
export function configuredServices({ ipfs }: Pick<Config, 'ipfs'>): PinServiceName[] {
  if (!ipfs) return [];
  return ipfs.pinning ? ['kubo', 'pinning_service'] : ['kubo'];
}
