import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findOwnModel } from '../../generators/find-own-model.ts';

/** Throws AppError 'not_found' for a name that is not that of the starter model which edits pictures. */
export async function requireStarter({ db }: Pick<Context, 'db'>, model: string): Promise<void> {
  const own = await findOwnModel(db, 'flux-kontext');
  if (own?.modelName === model) return;
  throw new AppError('not_found', {
    publicMessage: `There is no starter model '${model}' that edits pictures. GET /api/v1/generators says where one answers`,
    param: 'model',
  });
}
