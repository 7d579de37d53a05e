import type { Context } from '../../../platform/context.ts';
import { forbidden } from '../../../platform/errors.ts';
import { selectModelsByName } from '../queries.ts';
import { findRepository } from '../repositories/find-repository.ts';

/**
 * Returns the model for a hub name (`owner/name`) or the name of a starter model. The candidates in order:
 * the caller's model with this title, with or without its owner; the starter model; the restricted model with
 * this id; the caller's copy of the public hub's model; another user's model with this name that the caller
 * may read. Null if there is none. Throws AppError 'forbidden' for a restricted model without a grant.
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
  throw forbidden(`Access to ${name} is restricted. Request it on the model's page`, {
    param: 'model_id',
  });
}
