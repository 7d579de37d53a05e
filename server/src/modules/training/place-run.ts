import { gpuLabel } from '@bakehouse/contract/labels';
import type { GpuType } from '@bakehouse/contract/limits';
import type { Capacity } from '../../engine/model/capacity.ts';
import type { Gpu } from '../../engine/model/gpu.ts';
import type { Placement } from '../../engine/model/workload.ts';
import { chooseGpu } from '../../engine/queue/choose-gpu.ts';
import type { PriceId } from '../credits/prices/prices.ts';
import { fitsInto, gigabytes } from './validation/estimate-run.ts';

export type RunPlace = {
  placement: Placement;
  /** Null: the CPU. */
  gpu: Gpu | null;
  /** Devices that are paid for, and the price of one for an hour. */
  devices: number;
  priceId: PriceId;
  /** What the quote calls it; undefined: what the price list does. */
  priceLabel: string | undefined;
  /** The sentence that tells the person where the run goes. */
  description: string;
};

/**
 * The wanted GPUs where a machine has as many, else as many of another kind that are large enough, else
 * this machine's CPU. Pure.
 * @param neededBytes what each of the GPUs needs.
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
