import type { Context } from '../../platform/context.ts';
import { type AskedInstance, choosePlacement, type ServingPlacement } from './choose-placement.ts';
import { describeServedModel, type ServedModel } from './describe-served-model.ts';
import type { ServingParts } from './serving-parts.ts';

export type PlacedModel = { model: ServedModel; placement: ServingPlacement };

/**
 * Where a model is served, and what has to be loaded there. Null for an unknown instance type.
 * Throws what describeServedModel throws.
 */
export async function placeModel(
  ctx: Context,
  parts: Pick<ServingParts, 'capacity'>,
  assetId: string,
  asked: AskedInstance,
): Promise<PlacedModel | null> {
  const capacity = await parts.capacity();
  const roughly = choosePlacement(asked, capacity, 0);
  if (!roughly) return null;
  const model = await describeServedModel(ctx, assetId, roughly.engine);
  // How large it is decides which GPU, and whether any.
  const placement = choosePlacement(asked, capacity, weightsBytes(model)) ?? roughly;
  if (placement.engine === roughly.engine) return { model, placement };
  return { model: await describeServedModel(ctx, assetId, placement.engine), placement };
}

function weightsBytes({ base }: ServedModel): number {
  const weights = base.files.filter(({ path }) => path.endsWith('.safetensors'));
  return weights.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
}
