import type { deleteConfiguration as endpoint } from '@bakehouse/contract/configurations';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { deleteConfigurationRow } from './configuration-queries.ts';

/** Deletes a saved configuration of the caller. */
export async function deleteConfiguration(
  ctx: Context,
  { params }: InputOf<typeof endpoint>,
): Promise<undefined> {
  if (!(await deleteConfigurationRow(ctx.db, ctx.caller.userId, params.configId))) {
    throw new AppError('not_found', { publicMessage: 'Configuration not found' });
  }
}
