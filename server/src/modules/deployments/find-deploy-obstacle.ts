import { AppError } from '../../platform/errors.ts';
import type { FindObstacle } from '../models/get-model-readiness.ts';
import type { ReadCapacity } from '../serving/served-model.ts';
import { findKind } from './deploy.ts';
import { deploymentKinds } from './kinds/kinds.ts';

/** The hardware that the web app requests by default. */
const DEFAULT_INSTANCE = { instanceType: 'a100', gpuCount: 1 };

/** Returns a check of whether a model can be deployed: whether it has all files that its kind needs. */
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
