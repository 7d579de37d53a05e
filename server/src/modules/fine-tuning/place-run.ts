import { gpuLabel } from '@bakehouse/contract/labels';
import type { GpuType } from '@bakehouse/contract/limits';
import type { Capacity } from '../../engine/model/capacity.ts';
import type { Gpu } from '../../engine/model/gpu.ts';
import type { Placement } from '../../engine/model/workload.ts';
import { chooseGpu } from '../../engine/queue/choose-gpu.ts';
import type { PriceId } from '../billing/prices/prices.ts';
import { fitsInto, gigabytes } from './validation/estimate-run.ts';

export type RunPlace = {
  placement: Placement;
  /** The GPU to train on; null for the CPU. */
  gpu: Gpu | null;
  /** The number of devices to pay for. `priceId` is the hourly price of one of them. */
  devices: number;
  priceId: PriceId;
  /** Label in the quote; if undefined, the price list's label is used. */
  priceLabel: string | undefined;
  /** A sentence that tells the user where the run goes. */
  description: string;
};

/**
 * Returns the requested GPUs if a machine has that many, else as many of another type with enough memory,
 * else this machine's CPU.
 * @param neededBytes memory that each GPU needs.
 */
export function placeRun(
  wanted: { type: GpuType; count: number },
  neededBytes: number,
  capacity: Capacity,
): RunPlace {
  const { count } = wanted;
  const gpu = chooseGpu(wanted, capacity, ({ memoryBytes }) => fitsInto(memoryBytes, neededBytes));
  const lack = `This machine has no ${count > 1 && capacity.gpus?.length ? `${count} x ` : ''}${gpuLabel(wanted.type)}`;
  if (gpu === null) {
    const goes = capacity.gpus?.length
      ? `${lack}, and no other GPU for the ${gigabytes(neededBytes)} that the run needs: it goes to this machine's CPU`
      : `${lack}: the run goes to its CPU`;
    const others = count > 1 ? ' The number of GPUs makes no difference there.' : '';
    return {
      placement: { accelerator: null, count: 0 },
      gpu,
      devices: 1,
      priceId: 'training:CPU',
      priceLabel: undefined,
      description: `${goes} and is charged at the CPU price.${others}`,
    };
  }
  const { type, like } = gpu;
  const price = type === like ? 'its price' : `the price of ${gpuLabel(like)}`;
  const where = `${count} x ${gpuLabel(type)}`;
  const goes =
    type === wanted.type
      ? `The run goes to ${where}.`
      : `${lack}: the run goes to ${where} and is charged at ${price}.`;
  const all = count > 1 ? ` You pay for all ${count}.` : '';
  return {
    placement: { accelerator: type, count },
    gpu,
    devices: count,
    priceId: `training:${like}`,
    priceLabel: type === like ? undefined : `Training on ${gpuLabel(type)}, at ${price}`,
    description: goes + all,
  };
}
