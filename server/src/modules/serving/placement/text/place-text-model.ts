import { gpuCounts } from '@bakehouse/contract/limits';
import * as z from 'zod';
import type { Capacity } from '../../../../engine/model/capacity.ts';
import type { Context } from '../../../../platform/context.ts';
import { AppError, conflict, invalidParam } from '../../../../platform/errors.ts';
import { contextBytes, readModelContext } from '../../../models/context/model-context.ts';
import { readModelJson } from '../../../models/weights/model-files.ts';
import {
  type PlacedModel,
  type ReadCapacity,
  type RequestedInstance,
  type ServedModel,
  storedFiles,
} from '../../served-model.ts';
import { chooseContext, chooseCpuContext, choosePlacement, gpuBytes } from '../choose-placement.ts';
import { describeTextModel } from './describe-text-model.ts';
import { LOADABLE_LORA_RANK, loraSlotBytes } from './lora-slots.ts';

const count = z.int().positive();
const heads = z.object({ num_attention_heads: count, num_key_value_heads: count.nullish() });

/** Models that also read images nest the heads of their text model. */
const config = z.union([heads, z.object({ text_config: heads }).transform((found) => found.text_config)]);

const GIB = 1024 ** 3;

/**
 * Returns the placement and files of a text model: with vLLM on GPUs that fit it, else with llama.cpp on the
 * CPU. Null for an unknown instance type. Throws the errors of `describeTextModel` and `assertEvenSplit`, and
 * AppError 'conflict' with both reasons if neither GPU nor CPU can serve it.
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
  // The size decides on which GPUs the model fits, if any.
  const bytes =
    weightsBytes(model) +
    contextBytes(found, context.tokens) +
    (await adapterBytes(ctx, model, asked.gpuCount));
  const placement = choosePlacement(asked, capacity, bytes);
  if (placement?.engine === 'vllm') {
    await assertEvenSplit(ctx, model, placement.count);
    return { model, placement, context };
  }
  return placeOnCpu(ctx, onCpu, tooLarge(model, bytes, asked.gpuCount));
}

type OnCpu = { assetId: string; capacity: Capacity; asked: RequestedInstance };

/** Places the model on the CPU. `lack` is the reason why no GPU can serve it. */
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
  throw conflict(`${lack}. ${model.publicMessage}`);
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
  const rank = Math.max(LOADABLE_LORA_RANK, adapter?.rank ?? 0);
  return loraSlotBytes(await readModelJson(ctx, storedFiles(base), 'config.json'), rank, gpuCount);
}

function weightsBytes({ base }: ServedModel): number {
  return sizeOf(base.files.filter(({ path }) => path.endsWith('.safetensors')));
}

function sizeOf(files: ServedModel['base']['files']): number {
  return files.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
}

/**
 * Throws AppError 'invalid_request' with the possible numbers of GPUs if vLLM cannot split the model's
 * attention heads evenly among them. vLLM itself would report this only after its start. Does nothing if the
 * configuration is unknown.
 */
async function assertEvenSplit(
  ctx: Context,
  { base, baseTitle }: ServedModel,
  gpuCount: number,
): Promise<void> {
  if (gpuCount === 1) return;
  const { data } = config.safeParse(await readModelJson(ctx, storedFiles(base), 'config.json'));
  if (!data) return;
  const fitting = gpuCounts.filter((gpus) => isEven(data, gpus));
  if (fitting.some((gpus) => gpus === gpuCount)) return;
  const counts = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(fitting.map(String));
  throw invalidParam(
    'gpu_count',
    `gpu_count must be ${counts}: ${gpuCount} GPUs cannot share the attention heads of ${baseTitle} equally`,
  );
}

/**
 * True if the GPUs can split the heads. Key-value heads can be split evenly, or each be copied to equally
 * many GPUs.
 */
function isEven(
  { num_attention_heads: all, num_key_value_heads: keys }: z.infer<typeof heads>,
  gpus: number,
): boolean {
  const shared = keys ?? all;
  return all % gpus === 0 && (shared % gpus === 0 || gpus % shared === 0);
}
