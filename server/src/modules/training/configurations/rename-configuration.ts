import type { renameConfiguration as endpoint } from '@bakehouse/contract/configurations';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { updateConfigurationName } from './configuration-queries.ts';

/** Renames a saved configuration of the caller to an unused name. */
export async function renameConfiguration(
  ctx: Context,
  { params, body }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { config_name: name } = body;
  const renamed = await updateConfigurationName(ctx.db, {
    userId: ctx.caller.userId,
    id: params.configId,
    name,
  });
  if (renamed === null) throw new AppError('not_found', { publicMessage: 'Configuration not found' });
  if (renamed === 'taken') {
    throw new AppError('conflict', {
      publicMessage: `Another configuration is called ${name}. Choose another name.`,
      param: 'config_name',
    });
  }
  return renamed;
}
