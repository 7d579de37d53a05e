import type { GpuType } from '@bakehouse/contract/limits';

/** GPUs of one kind on the machines of a driver. */
export type Gpu = {
  /** The product's name for them, or their own where it lists none; it also names their class of slots. */
  type: string;
  /** What each of them really has. */
  memoryBytes: number;
  /** The listed GPU that is most like them: its price and speed are used for them. */
  like: GpuType;
  /** By the numbers that their machine gives them; of a cluster, those of one of its machines. */
  devices: number[];
  /** How many machines its driver has that are like this one, where it has several. */
  machines?: number;
};
