import type { imageCalls } from '@bakehouse/contract/deployments/images';
import type { quoteVllm } from '@bakehouse/contract/deployments/text';
import type { InputOf } from '@bakehouse/contract/endpoint';
import { instanceTypes } from '@bakehouse/contract/limits';
import type { Capacity } from '../../engine/model/capacity.ts';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { PriceId } from '../credits/prices/prices.ts';
import { readPrices } from '../credits/prices/read-prices.ts';
import { checkCapacity } from '../serving/placement/check-capacity.ts';
import type { PlacedModel, ReadCapacity } from '../serving/served-model.ts';
import { deploymentKinds, type KindName } from './kinds/kinds.ts';

/** Request to deploy a model of any kind. */
export type AskedDeployment = InputOf<typeof imageCalls.flux.quote>['body'] &
  Pick<InputOf<typeof quoteVllm>['body'], 'context_tokens'>;

type Input = { kind: KindName; body: AskedDeployment };

export type FoundPlacement = {
  placed: PlacedModel;
  capacity: Capacity;
  /** Price of one replica. */
  price: { price_id: PriceId; price_count: number; unit_price_micro: bigint };
};

/**
 * Returns the placement and price for a model. Throws AppError 'invalid_request', and the errors of the
 * kind's placement.
 */
export async function findPlacement(
  ctx: Context,
  parts: ReadCapacity,
  { kind, body }: Input,
): Promise<FoundPlacement> {
  const capacity = await parts.capacity();
  const { place, hourPrice } = deploymentKinds[kind];
  const asked = {
    instanceType: body.instance_type,
    gpuCount: body.gpu_count,
    contextTokens: body.context_tokens,
  };
  const placed = await place(ctx, parts, body.model_id, asked);
  if (!placed) {
    throw new AppError('invalid_request', {
      publicMessage: `instance_type must be one of ${instanceTypes.join(', ')}`,
      param: 'instance_type',
    });
  }
  const { placement } = placed;
  checkCapacity(body, placement, capacity);
  const price_id = hourPrice[placement.accelerator ? 'GPU' : 'CPU'];
  const { unitPriceMicro: unit_price_micro } = (await readPrices(ctx.db, ctx.clock.now()))[price_id];
  return { placed, capacity, price: { price_id, price_count: placement.count || 1, unit_price_micro } };
}
