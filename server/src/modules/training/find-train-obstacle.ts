import { AppError } from '../../platform/errors.ts';
import type { FindObstacle } from '../assets/get-model-readiness.ts';
import { readRevision } from '../assets/read-revision.ts';
import { findBaseFault } from './find-base-fault.ts';

/** Whether a fine-tune could read the model as its base. */
export const findTrainObstacle: FindObstacle = async (ctx, { assetId }) => {
  try {
    return findBaseFault(await readRevision(ctx.db, { assetId, userId: ctx.caller.userId }));
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return error.publicMessage;
    throw error;
  }
};
