import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findImageDeployment } from '../../deployments/pictures/find-image-deployment.ts';

/**
 * The caller's deployment that edits pictures, awake or not. Throws AppError 'not_found', or 'conflict' where it only draws
 * or has ended.
 */
export async function requireEditor(ctx: Context, podId: string): Promise<{ name: string; title: string }> {
  const { kind, title, model_name: name, inference_url: url, reason } = await findImageDeployment(ctx, podId);
  if (kind !== 'flux-kontext') {
    throw new AppError('conflict', {
      publicMessage: `${title} is deployed to draw. Deploy it as Kontext to edit pictures`,
      param: 'podId',
    });
  }
  if (url !== null) return { name, title };
  throw new AppError('conflict', { publicMessage: `${title} has ended. ${reason}`.trim(), param: 'podId' });
}
