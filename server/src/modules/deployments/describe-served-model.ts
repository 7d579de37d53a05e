import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';
import { findWorkload } from '../../engine/queries.ts';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { readBlob } from '../../platform/storage/read-blob.ts';
import { readLineage } from '../assets/read-lineage.ts';
import { type AssetRevision, readRevision } from '../assets/read-revision.ts';
import type { ServedAdapter, ServedBase } from './text-server-spec.ts';

export type ServedModel = {
  assetId: string;
  revisionId: string;
  title: string;
  baseAssetId: string;
  baseTitle: string;
  base: ServedBase;
  /** Null: the base itself is served. */
  adapter: ServedAdapter | null;
};

type Engine = ServedBase['engine'];

/** PEFT writes some hundred bytes; a person may have put anything in its place. */
const CONFIG_BYTES_MAX = 64 * 1024;

/**
 * Finds what has to be loaded to serve a model: its base, and its adapter if it is a fine-tune.
 * Throws AppError 'not_found', or 'conflict' when the model has no files that the engine can serve.
 */
export async function describeServedModel(
  ctx: Context,
  assetId: string,
  engine: Engine,
): Promise<ServedModel> {
  const { userId } = ctx.caller;
  const model = await readRevision(ctx.db, { assetId, userId });
  const lineage = await readLineage(ctx.db, { assetId });
  const base = lineage
    ? await readRevision(ctx.db, {
        assetId: lineage.baseModel.assetId,
        revisionId: lineage.baseModel.revisionId,
        userId,
      })
    : model;
  return {
    assetId,
    revisionId: model.revision.id,
    title: model.asset.title,
    baseAssetId: base.asset.id,
    baseTitle: base.asset.title,
    base: describeBase(base, engine),
    adapter: lineage ? await describeAdapter(ctx, model, { engine, runId: lineage.runId }) : null,
  };
}

function describeBase(base: AssetRevision, engine: Engine): ServedBase {
  const weights = base.files.find((file) =>
    engine === 'llamacpp' ? file.path.endsWith('.gguf') : file.path === 'model.safetensors',
  );
  if (!weights) {
    const wanted = engine === 'llamacpp' ? 'GGUF file' : 'model.safetensors';
    throw new AppError('conflict', {
      publicMessage: `${base.asset.title} has no ${wanted}, so it cannot be served here`,
    });
  }
  const chosen =
    engine === 'llamacpp' ? [weights] : base.files.filter((file) => !file.path.endsWith('.gguf'));
  const files = chosen.map(toInput).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return {
    engine,
    files,
    filesSha256: hashFiles(files),
    modelFile: engine === 'llamacpp' ? weights.path : '',
  };
}

async function describeAdapter(
  ctx: Context,
  model: AssetRevision,
  { engine, runId }: { engine: Engine; runId: string },
): Promise<ServedAdapter> {
  const config = model.files.find((file) => file.path === 'adapter_config.json');
  const names =
    engine === 'llamacpp' ? ['adapter.gguf'] : ['adapter_config.json', 'adapter_model.safetensors'];
  const files = names.map((name) => model.files.find((file) => file.path === name));
  if (!config || !files.every((file) => file !== undefined)) {
    const trained = model.files.some((file) => file.path === 'adapter_model.safetensors');
    throw new AppError('conflict', {
      publicMessage:
        trained && engine === 'llamacpp'
          ? `${model.asset.title} has no adapter.gguf, so it cannot be served on this machine: ` +
            'llama.cpp could not take its adapter, as the log of its training says'
          : `${model.asset.title} has no adapter yet: its training must finish first`,
    });
  }
  await refuseForeignFiles(ctx, model, runId, [config, ...files]);
  return {
    revisionId: model.revision.id,
    files: files.map(toInput),
    file: engine === 'llamacpp' ? 'adapter.gguf' : '',
    rank: await readRank(ctx, config),
  };
}

/** An adapter is loaded into a process that serves other users too: only what the training itself made. */
async function refuseForeignFiles(
  { db }: Context,
  model: AssetRevision,
  runId: string,
  files: AssetRevision['files'],
): Promise<void> {
  const outcome = (await findWorkload(db, runId))?.outcome;
  const made = new Map(
    outcome?.type === 'result' ? outcome.files.map((file) => [file.path, file.sha256]) : [],
  );
  const foreign = files.find((file) => made.get(file.path) !== file.sha256);
  if (!foreign) return;
  throw new AppError('conflict', {
    publicMessage:
      `${model.asset.title} cannot be served: its ${foreign.path} is not the one that its training made. ` +
      'Train it again',
  });
}

async function readRank(ctx: Context, file: AssetRevision['files'][number]): Promise<number> {
  const config = file.sizeBytes <= CONFIG_BYTES_MAX ? parse(await text(await readBlob(ctx, file))) : null;
  const rank = typeof config === 'object' && config !== null && 'r' in config ? config.r : null;
  if (typeof rank !== 'number' || !Number.isInteger(rank) || rank < 1) {
    throw new AppError('conflict', { publicMessage: "The model's adapter_config.json names no rank r" });
  }
  return rank;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function hashFiles(files: InputFile[]): string {
  const hash = createHash('sha256');
  for (const { path, sha256 } of files) hash.update(`${sha256} ${path}\n`);
  return hash.digest('hex');
}

function toInput(file: AssetRevision['files'][number]): InputFile {
  return { path: file.path, sha256: file.sha256, size_bytes: file.sizeBytes };
}
