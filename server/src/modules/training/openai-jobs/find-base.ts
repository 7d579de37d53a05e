import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/is-uuid.ts';
import { findModelByName } from '../../assets/access/find-model-by-name.ts';
import { listOwnModels } from '../../assets/own/list-own-models.ts';
import { findClonedAsset } from '../../assets/sources/sources.ts';
import { findFineTune } from '../../models/fine-tuned/steps.ts';
import { toModelName } from '../../models/names/model-name.ts';
import { listStarterModels } from '../../models/starter/list-starter-models.ts';

/** Maximum of the user's models, newest first, to search for a name. */
const OWN_MAX = 1000;

/**
 * Returns the id of the model that a job names: a starter, a fine-tune, a model by its id, title or hub name,
 * or one of the caller's own by its deployment name. Throws AppError 'model_not_found'.
 */
export async function findBase(ctx: Context, name: string): Promise<string> {
  const { userId } = ctx.caller;
  if (isUuid(name)) return name;
  const found =
    (await findStarter(ctx, name)) ??
    (await findFineTune(ctx.db, { userId, name }))?.assetId ??
    (await findModelByName(ctx, name)) ??
    (await findClonedAsset(ctx.db, { userId, repoId: name, type: 'model' })) ??
    (await findOwnByName(ctx, name));
  if (found) return found;
  throw new AppError('model_not_found', {
    publicMessage: `There is no model '${name}' to fine-tune. Name a starter model, or a model of your own by its title or id`,
    param: 'model',
  });
}

/** Accepts the title in name form too, because finished jobs refer to their base like this. */
async function findStarter({ db }: Context, name: string): Promise<string | undefined> {
  const starters = await listStarterModels(db);
  const isNamed = starters.find(({ modelName }) => modelName === name);
  return (isNamed ?? starters.find(({ title }) => toModelName(title) === name))?.assetId;
}

async function findOwnByName({ db, caller }: Context, name: string): Promise<string | undefined> {
  const own = await listOwnModels(db, { userId: caller.userId, limit: OWN_MAX });
  return own.find(({ title }) => toModelName(title) === name)?.id;
}
