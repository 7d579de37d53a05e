import { AppError } from '../../platform/errors.ts';
import type { FindObstacle } from '../models/get-model-readiness.ts';
import type { ReadCapacity } from '../serving/served-model.ts';
import { findKind } from './find-kind.ts';
import { deploymentKinds } from './kinds/kinds.ts';

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
