import { imageDeploymentKinds } from '@bakehouse/contract/deployments/images';
import { isServedAs } from '@bakehouse/contract/deployments/pipelines';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { readRevision } from '../assets/read-revision.ts';
import { readPipelineIndex } from '../assets/recognise/read-pipeline-index.ts';
import type { FindObstacle } from '../models/get-model-readiness.ts';
import type { ReadCapacity } from '../serving/served-model.ts';
import { deploymentKinds, type KindName } from './kinds/kinds.ts';

/** What a deployment gets that asks for nothing special, as the web app's do. */
const DEFAULT_INSTANCE = { instanceType: 'a100', gpuCount: 1 };

/** Whether a deployment of the model, as the kind that its files are for, would find all files that it needs. */
export function findDeployObstacle(capacity: ReadCapacity['capacity']): FindObstacle {
  return async (ctx, { assetId }) => {
    try {
      const { place } = deploymentKinds[await findKind(ctx, assetId)];
      await place(ctx, { capacity }, assetId, DEFAULT_INSTANCE);
      return null;
    } catch (error) {
      if (error instanceof AppError && error.status < 500) return error.publicMessage;
      throw error;
    }
  };
}

/** The kind that serves the pipeline which the model's index names; for text where it names none that is served. */
async function findKind(ctx: Context, assetId: string): Promise<KindName> {
  const { asset, files } = await readRevision(ctx.db, { assetId, userId: ctx.caller.userId, top: true });
  // A starter is served without a deployment, and text says so.
  const index = asset.isStarter ? null : await readPipelineIndex(ctx, files);
  return imageDeploymentKinds.find((kind) => isServedAs(kind, index?._class_name ?? null)) ?? 'text';
}
