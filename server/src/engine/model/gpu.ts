import type { GpuType } from '@bakehouse/contract/limits';

/** GPUs of one type on the machines of a driver. */
export type Gpu = {
  /** Product name, or the GPU's own name if it is not listed. Also the name of the slot class. */
  type: string;
  /** Actual memory of each GPU. */
  memoryBytes: number;
  /** The most similar listed GPU, whose price and speed are used. */
  like: GpuType;
  /** Indexes of these GPUs on their machine; for a cluster, on one of its nodes. */
  devices: number[];
  /** Number of identical nodes, if the driver is a cluster. */
  machines?: number;
};
