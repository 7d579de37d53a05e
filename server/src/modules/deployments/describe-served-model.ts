import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { readLineage } from '../assets/read-lineage.ts';
import { readRevision } from '../assets/read-revision.ts';
import type { ServedAdapter, ServedBase } from './text-server-spec.ts';

export type ServedModel = {
  assetId: string;
  revisionId: string;
  title: string;
  baseTitle: string;
  /** Hash of the weights that are shared. */
  baseSha256: string;
  base: ServedBase;
  /** Null: the base itself is served. */
  adapter: ServedAdapter | null;
};

type Engine = ServedBase['engine'];
type Revision = Awaited<ReturnType<typeof readRevision>>;

/**
 * Finds what has to be loaded to serve a model: its base, and its adapter if it is a fine-tune.
 * Throws AppError 'not_found', or 'conflict' when the model has no files that the engine can serve.
 */
export async function describeServedModel(ctx: Context, assetId: string, engine: Engine): Promise<ServedModel> {
  const { userId } = ctx.caller;
  const { model, base } = await ctx.db.transaction().execute(async (tx) => {
    const own = await readRevision(tx, { assetId, userId });
    const lineage = await readLineage(tx, { assetId });
    if (!lineage) return { model: own, base: own };
    const { assetId: baseId, revisionId } = lineage.baseModel;
    return { model: own, base: await readRevision(tx, { assetId: baseId, revisionId, userId }) };
  });
  const served = describeBase(base, engine);
  return {
    assetId,
    revisionId: model.revision.id,
    title: model.asset.title,
    baseTitle: base.asset.title,
    ...served,
    adapter: model === base ? null : await describeAdapter(ctx, model, engine),
  };
}

function describeBase(base: Revision, engine: Engine): Pick<ServedModel, 'base' | 'baseSha256'> {
  const weights = base.files.find((file) =>
    engine === 'llamacpp' ? file.path.endsWith('.gguf') : file.path === 'model.safetensors',
  );
  if (!weights) {
    const wanted = engine === 'llamacpp' ? 'GGUF file' : 'model.safetensors';
    throw new AppError('conflict', { publicMessage: `${base.asset.title} has no ${wanted}, so it cannot be served here` });
  }
  const files = engine === 'llamacpp' ? [weights] : base.files.filter((file) => !file.path.endsWith('.gguf'));
  return {
    baseSha256: weights.sha256,
    base: { engine, files: files.map(toInput), modelFile: engine === 'llamacpp' ? weights.path : '' },
  };
}

async function describeAdapter(ctx: Context, model: Revision, engine: Engine): Promise<ServedAdapter> {
  const config = model.files.find((file) => file.path === 'adapter_config.json');
  const names = engine === 'llamacpp' ? ['adapter.gguf'] : ['adapter_config.json', 'adapter_model.safetensors'];
  const files = names.map((name) => model.files.find((file) => file.path === name));
  if (!config || !files.every((file) => file !== undefined)) {
    throw new AppError('conflict', { publicMessage: `${model.asset.title} has no adapter yet: its training must finish first` });
  }
  return {
    revisionId: model.revision.id,
    files: files.map(toInput),
    file: engine === 'llamacpp' ? 'adapter.gguf' : '',
    rank: await readRank(ctx, config.sha256),
  };
}

async function readRank(ctx: Context, sha256: string): Promise<number> {
  const chunks: Buffer[] = [];
  for await (const chunk of await ctx.blobs.read(sha256)) chunks.push(Buffer.from(chunk));
  const config: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  const rank = typeof config === 'object' && config !== null && 'r' in config ? config.r : null;
  if (typeof rank !== 'number' || !Number.isInteger(rank) || rank < 1) {
    throw new AppError('conflict', { publicMessage: "The model's adapter_config.json names no rank r" });
  }
  return rank;
}

function toInput(file: Revision['files'][number]): InputFile {
  return { path: file.path, sha256: file.sha256, size_bytes: Number(file.sizeBytes) };
}
