import type { Capacity } from '../../engine/queue.ts';
import type { GatewayPresence } from './gateway-presence.ts';

/** What this module takes from the program around it. */
export type ServingParts = {
  /** The slots of the driver's machines. */
  capacity: () => Promise<Capacity>;
  presence: GatewayPresence;
};
