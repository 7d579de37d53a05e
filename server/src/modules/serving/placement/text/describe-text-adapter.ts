import * as z from 'zod';
import { findWorkload } from '../../../../engine/find-workload.ts';
import type { Context } from '../../../../platform/context.ts';
import { AppError } from '../../../../platform/errors.ts';
import type { AssetRevision } from '../../../assets/read-revision.ts';
import { listModelFiles } from '../../../models/weights/list-model-files.ts';
import { readModelJson } from '../../../models/weights/read-model-json.ts';
import type { ServedAdapter } from '../../served-model.ts';
import type { TextEngine } from '../../text-spec.ts';

type File = AssetRevision['files'][number];

/** PEFT writes some hundred bytes; a person may have put anything in its place. */
const CONFIG_BYTES_MAX = 64 * 1024;

/** What PEFT saves, and nothing else of an uploaded adapter, is ever loaded. */
const CONFIG = 'adapter_config.json';
const TENSORS = 'adapter_model.safetensors';
const GGUF = 'adapter.gguf';

const RANK_MAX_VLLM = 512;

const word = z.string().max(100);

/** Of what PEFT writes: what decides whether an engine applies it. */
const adapterConfig = z.object({
  r: z.int().min(1),
  peft_type: word.default('LORA'),
  use_dora: z.boolean().nullish(),
  modules_to_save: z
    .array(word)
    .nullish()
    .transform((modules) => modules ?? []),
});

/** Whether the files are those of an adapter, and no model of their own. */
export function isAdapter({ files }: AssetRevision): boolean {
  const has = (name: string) => files.some(({ path }) => path === name);
  const hasWeights = listModelFiles(files).some(({ path }) => path.endsWith('.safetensors'));
  return has(CONFIG) && has(TENSORS) && !hasWeights;
}

/**
 * The adapter of a model, and whether it is foreign: its files are not the ones that the run `runId`
 * made. A foreign one is never given to llama.cpp as it is, but converted by the runtime from safetensors.
 * Throws AppError 'conflict' when files are missing, or the engine does not apply what they are.
 */
export async function describeTextAdapter(
  ctx: Context,
  model: AssetRevision,
  { engine, runId }: { engine: TextEngine; runId: string | null },
): Promise<{ adapter: ServedAdapter; isForeign: boolean }> {
  const isMade = await findMade(ctx, runId);
  const find = (name: string) => model.files.find((file) => file.path === name);
  const [config, tensors, gguf] = [find(CONFIG), find(TENSORS), find(GGUF)];
  const describe = async (files: File[], file: string, configFile: File): Promise<ServedAdapter> => ({
    revisionId: model.revision.id,
    files: files.map(({ path, sha256, sizeBytes }) => ({ path, sha256, size_bytes: sizeBytes })),
    file,
    rank: await readRank(ctx, model, configFile, engine),
  });

  if (engine === 'llamacpp' && config && gguf && [config, gguf].every(isMade))
    return { adapter: await describe([gguf], GGUF, config), isForeign: false };
  if (!config || !tensors) throw missing(model, gguf);
  const isOwn = [config, tensors].every(isMade);
  if (engine === 'llamacpp' && isOwn && !gguf) throw notConverted(model);
  return {
    adapter: await describe([config, tensors], '', config),
    isForeign: engine === 'llamacpp' || !isOwn,
  };
}

/** Tells which files are those that the run has made. */
async function findMade({ db }: Context, runId: string | null): Promise<(file: File) => boolean> {
  const outcome = runId === null ? null : (await findWorkload(db, runId))?.outcome;
  const made = new Map(
    outcome?.type === 'result' ? outcome.files.map((file) => [file.path, file.sha256]) : [],
  );
  return (file) => made.get(file.path) === file.sha256;
}

function missing({ asset }: AssetRevision, gguf: File | undefined): AppError {
  return new AppError('conflict', {
    publicMessage: gguf
      ? `${asset.title} cannot be served: its ${GGUF} is not the one that its training made, and there is ` +
        `no ${CONFIG} with ${TENSORS} to make another from`
      : `${asset.title} has nothing to serve yet: its training must finish first`,
  });
}

function notConverted({ asset }: AssetRevision): AppError {
  return new AppError('conflict', {
    publicMessage:
      `${asset.title} has no ${GGUF}, so it cannot be served on this machine: ` +
      'llama.cpp could not take its adapter, as the log of its training says',
  });
}

/** Its rank, when the engine applies what the configuration says. Throws AppError 'conflict' where it does not. */
async function readRank(
  ctx: Context,
  { asset }: AssetRevision,
  file: File,
  engine: TextEngine,
): Promise<number> {
  const found = file.sizeBytes <= CONFIG_BYTES_MAX ? await readModelJson(ctx, [file], CONFIG) : null;
  const { data: config } = adapterConfig.safeParse(found);
  if (!config)
    throw new AppError('conflict', { publicMessage: `The ${CONFIG} of ${asset.title} names no rank r` });
  const fault = findFault(config, engine);
  if (fault) throw new AppError('conflict', { publicMessage: `${asset.title} cannot be served: ${fault}` });
  return config.r;
}

/** What neither engine applies, or the engine does not: it would end at once, after a machine was started for it. */
function findFault(config: z.output<typeof adapterConfig>, engine: TextEngine): string | null {
  const { peft_type: kind, modules_to_save: saved, r } = config;
  if (kind !== 'LORA') return `its adapter is of the kind ${kind}, and only LORA can be`;
  if (config.use_dora) return 'its adapter is a DoRA (use_dora), and only plain LoRA can be';
  if (saved.length > 0)
    return `its adapter brings whole modules along (modules_to_save: ${saved.join(', ')})`;
  if (engine === 'vllm' && r > RANK_MAX_VLLM)
    return `its adapter has the rank ${r}, and vLLM takes ${RANK_MAX_VLLM} at most`;
  return null;
}
