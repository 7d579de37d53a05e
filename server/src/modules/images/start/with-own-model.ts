import type { GeneratorName } from '@bakehouse/contract/generators';
import type { ImageDeploymentKind } from '@bakehouse/contract/image-deployments';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findNamedImageDeployment } from '../../deployments/pictures/find-named-image-deployment.ts';

/** Which deployments serve a generator; a model that edits also draws from the prompt alone. */
const families: Partial<Record<GeneratorName, readonly ImageDeploymentKind[]>> = {
  flux: ['flux', 'flux-kontext'],
  'flux-kontext': ['flux-kontext'],
};

/** What a call asks for. Throws AppError 'not_found' where it names a model that is no live deployment of the caller for the generator. */
export async function withOwnModel<Asked extends { generator: GeneratorName; model?: string | undefined }>(
  ctx: Context,
  asked: Asked,
): Promise<Asked> {
  const { generator, model } = asked;
  if (model === undefined) return asked;
  const deployed = await findNamedImageDeployment(ctx, model);
  if (deployed && families[generator]?.includes(deployed.kind)) return asked;
  throw new AppError('not_found', {
    publicMessage: `You have no deployment named '${model}' that serves ${generator}`,
    param: 'model',
  });
}
