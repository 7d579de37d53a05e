import { imageDeploymentKinds } from '@bakehouse/contract/deployments/images';
import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findNamedImageDeployment } from '../../deployments/images/find-named-image-deployment.ts';
import { findOwnModel } from '../generators/find-own-model.ts';
import { deploymentsFor } from '../generators/own-generators.ts';

type Named = { generator: GeneratorName; model?: string | undefined; service?: string | undefined };

/**
 * Resolves a named model. Throws AppError 'not_found' if the model is neither a live deployment of the caller
 * for the generator nor its starter, and 'invalid_request' if both a service and a model are named.
 */
export async function withOwnModel<Asked extends Named>(ctx: Context, asked: Asked): Promise<Asked> {
  const { generator, model, service } = asked;
  if (model === undefined) return asked;
  if (service !== undefined)
    throw new AppError('invalid_request', {
      publicMessage: 'Send either model or service',
      param: 'service',
    });
  const deployed = await findNamedImageDeployment(ctx, model, imageDeploymentKinds);
  if (deployed && deploymentsFor(generator).includes(deployed.kind)) return asked;
  if ((await findOwnModel(ctx.db, generator))?.modelName === model) return asked;
  throw new AppError('not_found', {
    publicMessage: `You have no deployment named '${model}' that serves ${generator}`,
    param: 'model',
  });
}
