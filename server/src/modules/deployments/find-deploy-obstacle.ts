import { AppError } from '../../platform/errors.ts';
import type { FindObstacle } from '../assets/get-model-readiness.ts';
import { deploymentKinds } from './kinds/kinds.ts';
import type { ServingParts } from './serving-parts.ts';

/** What a deployment gets that asks for nothing special, as the web app's do. */
const DEFAULT_INSTANCE = { instanceType: 'a100', gpuCount: 1 };

/** Whether a deployment of the model would find all files that it needs. */
export function findDeployObstacle(capacity: ServingParts['capacity']): FindObstacle {
  return async (ctx, { assetId }) => {
    try {
      await deploymentKinds.text.place(ctx, { capacity }, assetId, DEFAULT_INSTANCE);
      return null;
    } catch (error) {
      if (error instanceof AppError && error.status < 500) return error.publicMessage;
      throw error;
    }
  };
}
