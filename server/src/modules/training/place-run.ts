import { gpuLabel } from '@bakehouse/contract/labels';
import { GPUS_PER_RUN, type GpuType } from '@bakehouse/contract/limits';
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
 * One of the wanted GPUs where there is any, else one of another kind that is large enough, else
 * this machine's CPU. Pure.
 */
export function placeRun(
  wanted: { type: GpuType; count: number },
  neededBytes: number,
  capacity: Capacity,
): RunPlace {
  const gpu = chooseGpu({ type: wanted.type, count: GPUS_PER_RUN }, capacity, ({ memoryBytes }) =>
    fitsInto(memoryBytes, neededBytes),
  );
  const lack = `This machine has no ${gpuLabel(wanted.type)}`;
  if (gpu === null) {
    const goes = capacity.gpus?.length
      ? `${lack}, and no other GPU for the ${gigabytes(neededBytes)} that the run needs: it goes to this machine's CPU`
      : `${lack}: the run goes to its CPU`;
    const others = wanted.count > 1 ? ' The number of GPUs makes no difference there.' : '';
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
  const where = `${GPUS_PER_RUN} x ${gpuLabel(type)}`;
  const goes =
    type === wanted.type
      ? `The run goes to ${where}.`
      : `${lack}: the run goes to ${where} and is charged at ${price}.`;
  const others = wanted.count > GPUS_PER_RUN ? ' It trains on one GPU, and you pay for one.' : '';
  return {
    placement: { accelerator: type, count: GPUS_PER_RUN },
    gpu,
    devices: GPUS_PER_RUN,
    priceId: `training:${like}`,
    priceLabel: type === like ? undefined : `Training on ${gpuLabel(type)}, at ${price}`,
    description: goes + others,
  };
}
