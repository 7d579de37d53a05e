import type { Capacity } from '../../engine/queue.ts';

/** What this module takes from the program around it. */
export type ServingParts = {
  /** The slots of the driver's machines. */
  capacity: () => Promise<Capacity>;
};
