import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findImageDeployment } from '../../deployments/images/find-image-deployment.ts';
import { findOwnModel } from '../../generations/generators/find-own-model.ts';

/** The editing model in a call's path. */
export type Editor = { model: string } | { podId: string };

/**
 * Returns the name of the editing model: a starter, or the model of a deployment of the caller. Throws
 * AppError 'not_found', and 'conflict' for a deployment that has ended or does not edit.
 */
export async function findEditor(ctx: Context, asked: Editor): Promise<string> {
  if ('podId' in asked) return findDeployed(ctx, asked.podId);
  const own = await findOwnModel(ctx.db, 'flux-kontext');
  if (own?.modelName === asked.model) return asked.model;
  throw new AppError('not_found', {
    publicMessage: `There is no starter model '${asked.model}' that edits pictures. GET /api/v1/generators says where one answers`,
    param: 'model',
  });
}

async function findDeployed(ctx: Context, podId: string): Promise<string> {
  const { kind, title, model_name, inference_url } = await findImageDeployment(ctx, podId);
  if (kind !== 'flux-kontext')
    throw new AppError('conflict', {
      publicMessage: `${title} generates pictures but cannot edit them`,
      param: 'podId',
    });
  if (inference_url === null)
    throw new AppError('conflict', { publicMessage: `The deployment of ${title} has ended`, param: 'podId' });
  return model_name;
}
