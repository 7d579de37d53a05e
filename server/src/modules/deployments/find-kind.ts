import { imageDeploymentKinds } from '@bakehouse/contract/deployments/images';
import { isServedAs } from '@bakehouse/contract/deployments/pipelines';
import type { Context } from '../../platform/context.ts';
import { type AssetRevision, readRevision } from '../assets/read-revision.ts';
import { readPipelineIndex } from '../assets/recognise/read-pipeline-index.ts';
import { isEmbeddingModel } from '../models/embedding/is-embedding-model.ts';
import type { KindName, textKinds } from './kinds/kinds.ts';

type TextKind = (typeof textKinds)[number];

/**
 * Returns the kind for a model's files: the kind of the pipeline in its index if that is supported, else a
 * text kind.
 */
export async function findKind(ctx: Context, assetId: string): Promise<KindName> {
  const model = await readModel(ctx, assetId);
  // Starters are served without a deployment; the text kind's error says so.
  const index = model.asset.isStarter ? null : await readPipelineIndex(ctx, model.files);
  const ofPipeline = imageDeploymentKinds.find((kind) => isServedAs(kind, index?._class_name ?? null));
  return ofPipeline ?? toTextKind(ctx, model);
}

/** Returns the kind of a model deployed over the text API. Throws AppError 'not_found'. */
export async function findTextKind(ctx: Context, assetId: string): Promise<TextKind> {
  return toTextKind(ctx, await readModel(ctx, assetId));
}

function readModel(ctx: Context, assetId: string): Promise<AssetRevision> {
  return readRevision(ctx.db, { assetId, userId: ctx.caller.userId, top: true });
}

async function toTextKind(ctx: Context, model: AssetRevision): Promise<TextKind> {
  return (await isEmbeddingModel(ctx, model)) ? 'embedding' : 'text';
}
