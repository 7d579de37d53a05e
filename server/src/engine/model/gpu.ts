import type { GpuType } from '@bakehouse/contract/limits';

/** GPUs of one type on the machines of a driver. */
export type Gpu = {
  /** Product name, or their own name if it is unlisted; also the name of their slot class. */
  type: string;
  /** Actual memory of each GPU. */
  memoryBytes: number;
  /** The most similar listed GPU, whose price and speed are used. */
  like: GpuType;
  /** Indexes on their machine; for a cluster, on one of its machines. */
  devices: number[];
  /** Number of identical machines, if the driver has several. */
  machines?: number;
};
