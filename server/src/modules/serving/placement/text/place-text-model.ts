import type { Capacity } from '../../../../engine/model/capacity.ts';
import type { Context } from '../../../../platform/context.ts';
import { AppError } from '../../../../platform/errors.ts';
import { contextBytes } from '../../../models/context/context-memory.ts';
import { readModelContext } from '../../../models/context/read-model-context.ts';
import { readModelJson } from '../../../models/weights/read-model-json.ts';
import {
  type PlacedModel,
  type ReadCapacity,
  type RequestedInstance,
  type ServedModel,
  storedFiles,
} from '../../served-model.ts';
import { chooseContext, chooseCpuContext } from '../choose-context.ts';
import { choosePlacement, gpuBytes } from '../choose-placement.ts';
import { describeTextModel } from './describe-text-model.ts';
import { loraSlotBytes } from './lora-slots.ts';
import { refuseUnevenSplit } from './refuse-uneven-split.ts';

const GIB = 1024 ** 3;

/**
 * Returns a text model's placement and files: with vLLM on GPUs that fit it, else with llama.cpp on the CPU.
 * Null for an unknown instance type. Throws whatever describeTextModel and refuseUnevenSplit throw, and
 * 'conflict' with both reasons if neither can serve it.
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
  const onCpu = { assetId, capacity, asked };
  if (roughly.engine === 'llamacpp') return placeOnCpu(ctx, onCpu);
  const model = await orConflict(describeTextModel(ctx, assetId, 'vllm'));
  if (model instanceof AppError) return placeOnCpu(ctx, onCpu, model.publicMessage);
  const found = await readModelContext(ctx, storedFiles(model.base));
  const context = chooseContext(model.baseTitle, found, asked.contextTokens);
  // The size determines whether and on which GPU it fits.
  const bytes =
    weightsBytes(model) +
    contextBytes(found, context.tokens) +
    (await adapterBytes(ctx, model, asked.gpuCount));
  const placement = choosePlacement(asked, capacity, bytes);
  if (placement?.engine === 'vllm') {
    await refuseUnevenSplit(ctx, model, placement.count);
    return { model, placement, context };
  }
  return placeOnCpu(ctx, onCpu, tooLarge(model, bytes, asked.gpuCount));
}

type OnCpu = { assetId: string; capacity: Capacity; asked: RequestedInstance };

/** `lack` is why no GPU serves it. */
async function placeOnCpu(
  ctx: Context,
  { assetId, capacity, asked }: OnCpu,
  lack?: string,
): Promise<PlacedModel> {
  const model = await orConflict(describeTextModel(ctx, assetId, 'llamacpp'));
  if (!(model instanceof AppError)) {
    const context = chooseCpuContext(
      { title: model.baseTitle, weightsBytes: sizeOf(model.base.files) },
      await readModelContext(ctx, storedFiles(model.base)),
      { asked: asked.contextTokens, memoryBytes: capacity.cpuMemoryBytes },
    );
    return { model, placement: { accelerator: null, count: 0 }, context };
  }
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
  return `${baseTitle} needs ${gpus}, which this server does not have`;
}

async function adapterBytes(ctx: Context, { base, adapter }: ServedModel, gpuCount: number): Promise<number> {
  if (!adapter) return 0;
  return loraSlotBytes(await readModelJson(ctx, storedFiles(base), 'config.json'), adapter.rank, gpuCount);
}

function weightsBytes({ base }: ServedModel): number {
  return sizeOf(base.files.filter(({ path }) => path.endsWith('.safetensors')));
}

function sizeOf(files: ServedModel['base']['files']): number {
  return files.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
}
