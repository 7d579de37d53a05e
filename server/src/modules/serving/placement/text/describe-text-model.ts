import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';
import type { Context } from '../../../../platform/context.ts';
import { AppError, conflict } from '../../../../platform/errors.ts';
import { readLineage } from '../../../assets/lineage.ts';
import { type AssetRevision, readRevision } from '../../../assets/read-revision.ts';
import { isEmbeddingModel } from '../../../models/embedding/is-embedding-model.ts';
import { listModelFiles } from '../../../models/weights/list-model-files.ts';
import { isWholeModel } from '../../../models/weights/missing-parts.ts';
import {
  describeClassifier,
  findGguf,
  findProjector,
  findSafetensors,
  isClassifier,
} from '../../../models/weights/model-files.ts';
import type { ServedBase, ServedModel } from '../../served-model.ts';
import type { TextEngine } from '../../text-spec.ts';
import { isForeignModel } from '../create-serving-predictor.ts';
import { hashFiles } from '../describe-pipeline.ts';
import { describeTextAdapter, isAdapter } from './describe-text-adapter.ts';

/**
 * Returns the files that serving a model needs: its base's files, and for a fine-tune also its adapter's
 * files, whether it was produced here or uploaded. Throws AppError 'not_found', and 'conflict' if the engine
 * cannot serve the files.
 */
export async function describeTextModel(
  ctx: Context,
  assetId: string,
  engine: TextEngine,
): Promise<ServedModel> {
  const { userId } = ctx.caller;
  const model = await readRevision(ctx.db, { assetId, userId, top: true });
  if (model.asset.starterTask === 'image') {
    throw conflict(
      `${model.asset.title} generates pictures, not text. It is served without a deployment: ask for a picture`,
    );
  }
  if (await isEmbeddingModel(ctx, model)) {
    throw conflict(`${model.asset.title} creates embeddings, not text. Use POST /v1/embeddings`);
  }
  if (await isClassifier(ctx, model)) {
    throw conflict(describeClassifier(model.asset));
  }
  const found = await findBase(ctx, model);
  const base = found ? await readBase(ctx, model, found) : model;
  const adapted = found ? await describeTextAdapter(ctx, model, { engine, runId: found.runId }) : null;
  return {
    assetId,
    revisionId: model.revision.id,
    title: model.asset.title,
    baseAssetId: base.asset.id,
    baseTitle: base.asset.title,
    base: await describeBase(ctx, base, { engine, withConfig: adapted?.isForeign ?? false }),
    isForeign: adapted?.isForeign || isForeignModel(base, userId),
    adapter: adapted?.adapter ?? null,
  };
}

type FoundBase = { assetId: string; revisionId?: string; runId: string | null };

/**
 * Returns the base of an adapter; null for a model without an adapter. An uploaded adapter uses the newest
 * revision of its parent.
 */
async function findBase({ db }: Context, model: AssetRevision): Promise<FoundBase | null> {
  const { id, title, parentAssetId } = model.asset;
  // The result of a full fine-tune is a whole model and needs no base.
  if (isWholeModel(model.files)) return null;
  const lineage = await readLineage(db, { assetId: id });
  if (lineage) return { ...lineage.baseModel, runId: lineage.runId };
  if (!isAdapter(model)) return null;
  if (parentAssetId) return { assetId: parentAssetId, runId: null };
  throw conflict(
    `${title} is an adapter without a base model. Create it with the base model's id ` +
      'as parent_dataset_id',
  );
}

/** Reads the base. It may be readable only to the adapter's owner, who may be another user. */
async function readBase(
  ctx: Context,
  { asset }: AssetRevision,
  { assetId, revisionId }: FoundBase,
): Promise<AssetRevision> {
  const { userId } = ctx.caller;
  return readRevision(ctx.db, { assetId, revisionId, userId, top: true }).catch((error: unknown) => {
    if (asset.ownerUserId === userId || !(error instanceof AppError && error.code === 'not_found'))
      throw error;
    throw conflict(`${asset.title} is an adapter whose owner does not share its base model`, {
      cause: error,
    });
  });
}

async function describeBase(
  ctx: Context,
  base: AssetRevision,
  { engine, withConfig }: { engine: TextEngine; withConfig: boolean },
): Promise<ServedBase> {
  const { files: weights, fault } = engine === 'vllm' ? await findSafetensors(ctx, base) : findGguf(base);
  if (fault) throw conflict(fault);
  if (weights.length === 0) {
    const lack =
      engine === 'vllm' ? 'safetensors weights for a GPU' : 'GGUF file, so it cannot be served here';
    throw conflict(`${base.asset.title} has no ${lack}`);
  }
  const otherFiles = listModelFiles(base.files).filter(engine === 'vllm' ? isNoWeights : saysHowToSample);
  const projector = engine === 'llamacpp' ? findProjector(base.files) : undefined;
  const chosen = [
    ...weights,
    ...(projector ? [projector] : []),
    ...otherFiles,
    ...(engine === 'llamacpp' && withConfig ? [findConfig(base)] : []),
  ];
  const files = chosen.map(toInput).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { engine, files, filesSha256: hashFiles(files) };
}

function isNoWeights({ path }: { path: string }): boolean {
  return !path.endsWith('.safetensors');
}

/** True for the file with the authors' sampling defaults, which llama.cpp does not read itself. */
function saysHowToSample({ path }: { path: string }): boolean {
  return path === 'generation_config.json';
}

/** Returns the base's config.json, which is needed to convert an adapter for llama.cpp. */
function findConfig({ asset, files }: AssetRevision): AssetRevision['files'][number] {
  const config = files.find((file) => file.path === 'config.json');
  if (config) return config;
  throw conflict(`${asset.title} has no config.json, which uploaded adapters need`);
}

function toInput(file: AssetRevision['files'][number]): InputFile {
  return { path: file.path, sha256: file.sha256, size_bytes: file.sizeBytes };
}
