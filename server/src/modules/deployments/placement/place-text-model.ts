import type { Context } from '../../../platform/context.ts';
import type { PlacedModel, RequestedInstance, ServedModel } from '../kinds/deployment-kind.ts';
import type { ServingParts } from '../serving-parts.ts';
import { choosePlacement } from './choose-placement.ts';
import { describeTextModel } from './describe-text-model.ts';

/**
 * Where a text model is served, and what has to be loaded there. Null for an unknown instance type.
 * Throws what describeTextModel throws.
 */
export async function placeTextModel(
  ctx: Context,
  parts: Pick<ServingParts, 'capacity'>,
  assetId: string,
  asked: RequestedInstance,
): Promise<PlacedModel | null> {
  const capacity = await parts.capacity();
  const roughly = choosePlacement(asked, capacity, 0);
  if (!roughly) return null;
  const model = await describeTextModel(ctx, assetId, roughly.engine);
  // How large it is decides which GPU, and whether any.
  const placement = choosePlacement(asked, capacity, weightsBytes(model)) ?? roughly;
  if (placement.engine === roughly.engine) return { model, placement };
  return { model: await describeTextModel(ctx, assetId, placement.engine), placement };
}

function weightsBytes({ base }: ServedModel): number {
  const weights = base.files.filter(({ path }) => path.endsWith('.safetensors'));
  return weights.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
}
