import { imageDeploymentKinds } from '@bakehouse/contract/deployments/images';
import { isServedAs } from '@bakehouse/contract/deployments/pipelines';
import type { Context } from '../../platform/context.ts';
import { type AssetRevision, readRevision } from '../assets/read-revision.ts';
import { readPipelineIndex } from '../assets/recognise/read-pipeline-index.ts';
import { isEmbeddingModel } from '../models/embedding/is-embedding-model.ts';
import type { KindName, textKinds } from './kinds/kinds.ts';

type TextKind = (typeof textKinds)[number];

/** The kind that a model's files are for: that of the pipeline which its index names, if it is served, else a text kind. */
export async function findKind(ctx: Context, assetId: string): Promise<KindName> {
  const model = await readModel(ctx, assetId);
  // A starter is served without a deployment, and text says so.
  const index = model.asset.isStarter ? null : await readPipelineIndex(ctx, model.files);
  const ofPipeline = imageDeploymentKinds.find((kind) => isServedAs(kind, index?._class_name ?? null));
  return ofPipeline ?? toTextKind(ctx, model);
}

/** The kind of a model that the calls of text models deploy. Throws AppError 'not_found'. */
export async function findTextKind(ctx: Context, assetId: string): Promise<TextKind> {
  return toTextKind(ctx, await readModel(ctx, assetId));
}

function readModel(ctx: Context, assetId: string): Promise<AssetRevision> {
  return readRevision(ctx.db, { assetId, userId: ctx.caller.userId, top: true });
}

async function toTextKind(ctx: Context, model: AssetRevision): Promise<TextKind> {
  return (await isEmbeddingModel(ctx, model)) ? 'embedding' : 'text';
}
