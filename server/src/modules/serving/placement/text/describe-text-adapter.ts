import * as z from 'zod';
import { findWorkload } from '../../../../engine/workloads.ts';
import type { Context } from '../../../../platform/context.ts';
import { type AppError, conflict } from '../../../../platform/errors.ts';
import type { AssetRevision } from '../../../assets/read-revision.ts';
import { listModelFiles } from '../../../models/weights/list-model-files.ts';
import { readModelJson } from '../../../models/weights/model-files.ts';
import type { ServedAdapter } from '../../served-model.ts';
import type { TextEngine } from '../../text-spec.ts';

type File = AssetRevision['files'][number];

/** Maximum size of the configuration; PEFT writes some hundred bytes. */
const CONFIG_BYTES_MAX = 64 * 1024;

/** Files of an adapter, named as PEFT does. Other files of an uploaded adapter are not loaded. */
const CONFIG = 'adapter_config.json';
const TENSORS = 'adapter_model.safetensors';
const GGUF = 'adapter.gguf';

const RANK_MAX_VLLM = 512;

const word = z.string().max(100);

/** Settings of PEFT that an engine may not support. */
const adapterConfig = z.object({
  r: z.int().min(1),
  peft_type: word.default('LORA'),
  use_dora: z.boolean().nullish(),
  modules_to_save: z
    .array(word)
    .nullish()
    .transform((modules) => modules ?? []),
});

/** True if the files are an adapter without a model of their own. */
export function isAdapter({ files }: AssetRevision): boolean {
  const has = (name: string) => files.some(({ path }) => path === name);
  const hasWeights = listModelFiles(files).some(({ path }) => path.endsWith('.safetensors'));
  return has(CONFIG) && has(TENSORS) && !hasWeights;
}

/**
 * Returns a model's adapter. It is foreign unless exactly its files were produced by the run `runId`.
 * llama.cpp never loads a foreign GGUF; the runtime converts the safetensors instead. Throws AppError
 * 'conflict' if files are missing or the engine does not support the adapter.
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

/** Returns a function that tells whether the run has produced a file. */
async function findMade({ db }: Context, runId: string | null): Promise<(file: File) => boolean> {
  const outcome = runId === null ? null : (await findWorkload(db, runId))?.outcome;
  const made = new Map(
    outcome?.type === 'result' ? outcome.files.map((file) => [file.path, file.sha256]) : [],
  );
  return (file) => made.get(file.path) === file.sha256;
}

function missing({ asset }: AssetRevision, gguf: File | undefined): AppError {
  return conflict(
    gguf
      ? `${asset.title} cannot be served: its ${GGUF} is not the one that its training made, and there is ` +
          `no ${CONFIG} with ${TENSORS} to make another from`
      : `${asset.title} has nothing to serve yet: its training must finish first`,
  );
}

function notConverted({ asset }: AssetRevision): AppError {
  return conflict(
    `${asset.title} has no ${GGUF}, so it cannot be served on this machine: ` +
      'llama.cpp does not support its adapter. The log of its training has the reason',
  );
}

/**
 * Returns the adapter's rank. Throws AppError 'conflict' if the engine does not support the configuration.
 */
async function readRank(
  ctx: Context,
  { asset }: AssetRevision,
  file: File,
  engine: TextEngine,
): Promise<number> {
  const found = file.sizeBytes <= CONFIG_BYTES_MAX ? await readModelJson(ctx, [file], CONFIG) : null;
  const { data: config } = adapterConfig.safeParse(found);
  if (!config) throw conflict(`The ${CONFIG} of ${asset.title} names no rank r`);
  const fault = findFault(config, engine);
  if (fault) throw conflict(`${asset.title} cannot be served: ${fault}`);
  return config.r;
}

/**
 * Returns what the engine does not support. Without this check, serving would fail only after a machine was
 * started.
 */
function findFault(config: z.output<typeof adapterConfig>, engine: TextEngine): string | null {
  const { peft_type: kind, modules_to_save: saved, r } = config;
  if (kind !== 'LORA') return `its adapter is of the kind ${kind}, and only LORA can be`;
  if (config.use_dora) return 'its adapter is a DoRA (use_dora), and only plain LoRA can be';
  if (saved.length > 0) return `its adapter contains whole modules (modules_to_save: ${saved.join(', ')})`;
  if (engine === 'vllm' && r > RANK_MAX_VLLM)
    return `its adapter has the rank ${r}, and vLLM takes ${RANK_MAX_VLLM} at most`;
  return null;
}
