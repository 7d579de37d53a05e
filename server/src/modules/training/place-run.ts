import { type GpuType, gpuLabels } from '@bakehouse/contract/limits';
import { placeWorkload } from '../../engine/place-workload.ts';
import { type Capacity, slotNumbers } from '../../engine/queue.ts';
import type { Placement } from '../../engine/workload.ts';
import type { PriceId } from '../credits/prices.ts';

export type RunPlace = {
  placement: Placement;
  /** Devices that are paid for, and the price of one for an hour. */
  devices: number;
  priceId: PriceId;
  /** What it is called: 'CPU', '2 x NVIDIA H100 (80GB)'. */
  device: string;
  /** The sentence that tells the person where the run goes. */
  description: string;
};

/** The wanted GPUs where there are as many, else this machine's CPU. Pure. */
export function placeRun(wanted: { type: GpuType; count: number }, capacity: Capacity): RunPlace {
  const label = gpuLabels[wanted.type];
  const placement = placeWorkload(wanted, capacity);
  if (placement.accelerator !== null) {
    const device = `${wanted.count} x ${label}`;
    return {
      placement,
      devices: wanted.count,
      priceId: `training:${wanted.type}`,
      device,
      description: `The run goes to ${device}.`,
    };
  }
  const there = slotNumbers(wanted.type, capacity).length;
  const lack = there === 0 ? `has no ${label}` : `has ${there} of the ${wanted.count} x ${label}`;
  return {
    placement,
    devices: 1,
    priceId: 'training:CPU',
    device: 'CPU',
    description: `This machine ${lack}: the run goes to its CPU and is priced as such.`,
  };
}
