import type { Capacity } from '../../engine/queue.ts';
import type { UsageLeader } from '../credits/usage/usage-leader.ts';
import type { GatewayPresence } from './gateway-presence.ts';
import type { KeepRequest } from './keep-requests.ts';

/** What this module takes from the program around it. */
export type ServingParts = {
  /** The slots of the driver's machines. */
  capacity: () => Promise<Capacity>;
  presence: GatewayPresence;
  /** The usage windows of this process. */
  usage: UsageLeader;
  keepRequest: KeepRequest;
};
