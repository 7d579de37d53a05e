import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { selectModelsByName } from '../queries.ts';
import { findRepository } from '../repositories/find-repository.ts';

/**
 * The model that a name of a model hub (`owner/name`) means here, or the name of a starter model: the caller's own model
 * of that title, with or without its owner, else the starter, else the restricted model of that id, else the caller's copy of
 * the public hub's model of that name, else the model of another user that is called so and that the caller may read. Null where there is none. Throws AppError 'forbidden' for a
 * restricted model that the caller was not granted.
 */
export async function findModelByName({ db, caller }: Context, name: string): Promise<string | null> {
  const { userId } = caller;
  const found = await selectModelsByName(db, { name, userId });
  const readable = found.find(({ isReadable }) => isReadable);
  if (readable) return readable.id;
  const [namespace = '', last, ...more] = name.split('/');
  const model =
    last === undefined || more.length > 0
      ? null
      : await findRepository(db, { type: 'model', namespace, name: last, userId });
  if (model !== null && model !== 'gated' && model.revision_id !== null) return model.id;
  if (found.length === 0) return null;
  throw new AppError('forbidden', {
    publicMessage: `Access to ${name} has to be granted first. Ask for it on the model's page`,
    param: 'model_id',
  });
}
