import { pictureDeploymentKinds } from '@bakehouse/contract/deployments/images';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import type { Context } from '../../../platform/context.ts';
import { listImageModelNames } from '../../deployments/images/list-image-model-names.ts';
import { findOwnModel } from '../../generations/generators/find-own-model.ts';
import { listUpstreams } from '../../providers/find-upstreams.ts';

/**
 * Returns the names of the models that generate or edit over OpenAI's API: the starter, services, and the
 * caller's deployments.
 */
export async function listPictureModels(ctx: Context, what: 'generates' | 'edits'): Promise<string[]> {
  const edits = what === 'edits';
  const own = await findOwnModel(ctx.db, edits ? 'flux-kontext' : 'paris');
  const services = listUpstreams(ctx.config)
    .map(({ generator }) => generator)
    .filter((name) => editsPictures(generators[name]) === edits);
  const deployed = await listImageModelNames(ctx, edits ? ['flux-kontext'] : pictureDeploymentKinds);
  return [...(own ? [own.modelName] : []), ...services, ...deployed];
}
