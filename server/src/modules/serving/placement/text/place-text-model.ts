import type { Context } from '../../../../platform/context.ts';
import { AppError } from '../../../../platform/errors.ts';
import type { PlacedModel, ReadCapacity, RequestedInstance, ServedModel } from '../../served-model.ts';
import { choosePlacement, gpuBytes } from '../choose-placement.ts';
import { describeTextModel } from './describe-text-model.ts';
import { refuseUnevenSplit } from './refuse-uneven-split.ts';

const GIB = 1024 ** 3;

/**
 * Where a text model is served, and what has to be loaded there: by vLLM on GPUs that hold it, else by llama.cpp on the
 * CPU. Null for an unknown instance type. Throws what describeTextModel and refuseUnevenSplit throw, and where neither can serve
 * it 'conflict' with what each lacks.
 */
export async function placeTextModel(
  ctx: Context,
  parts: ReadCapacity,
  assetId: string,
  asked: RequestedInstance,
): Promise<PlacedModel | null> {
  const capacity = await parts.capacity();
  const roughly = choosePlacement(asked, capacity, 0);
  if (!roughly) return null;
  if (roughly.engine === 'llamacpp') return placeOnCpu(ctx, assetId);
  const model = await orConflict(describeTextModel(ctx, assetId, 'vllm'));
  if (model instanceof AppError) return placeOnCpu(ctx, assetId, model.publicMessage);
  // How large it is decides which GPU, and whether any.
  const bytes = weightsBytes(model);
  const placement = choosePlacement(asked, capacity, bytes);
  if (placement?.engine === 'vllm') {
    await refuseUnevenSplit(ctx, model, placement.count);
    return { model, placement };
  }
  return placeOnCpu(ctx, assetId, tooLarge(model, bytes, asked.gpuCount));
}

/** `lack`: why no GPU serves it. */
async function placeOnCpu(ctx: Context, assetId: string, lack?: string): Promise<PlacedModel> {
  const model = await orConflict(describeTextModel(ctx, assetId, 'llamacpp'));
  if (!(model instanceof AppError)) return { model, placement: { accelerator: null, count: 0 } };
  if (lack === undefined || lack === model.publicMessage) throw model;
  throw new AppError('conflict', { publicMessage: `${lack}. ${model.publicMessage}` });
}

async function orConflict(model: Promise<ServedModel>): Promise<ServedModel | AppError> {
  try {
    return await model;
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return error;
    throw error;
  }
}

function tooLarge({ baseTitle }: ServedModel, bytes: number, gpuCount: number): string {
  const gib = Math.ceil(gpuBytes(bytes, gpuCount) / GIB);
  const gpus =
    gpuCount > 1
      ? `${gpuCount} GPUs with at least ${gib} GB of memory each`
      : `a GPU with at least ${gib} GB of memory`;
  return `${baseTitle} needs ${gpus}, which this installation does not have`;
}

function weightsBytes({ base }: ServedModel): number {
  const weights = base.files.filter(({ path }) => path.endsWith('.safetensors'));
  return weights.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
}
