import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { PARIS_MODEL } from '@bakehouse/contract/generators/paris';
import { parseBgl } from '@bakehouse/contract/money';
import type { getVisitorTries as endpoint, VisitorTryState } from '@bakehouse/contract/visitors';
import type { Services } from '../../platform/context.ts';
import { listStarterModels } from '../models/starter/list-starter-models.ts';
import { starterLanguageModel } from '../models/starter/starter-language-model.ts';

/** Returns whether a starter is being prepared. */
export type IsPreparing = (starter: 'starter-image-model' | 'starter-language-model') => Promise<boolean>;

/** Returns what a visitor can try here. */
export async function getVisitorTries(
  { db, config }: Pick<Services, 'db' | 'config'>,
  isPreparing: IsPreparing,
): Promise<ResponseOf<typeof endpoint>> {
  const { slug: chat_model } = starterLanguageModel;
  if (parseBgl(config.visitorBudgetBgl) === 0n) return { picture: 'off', chat: 'off', chat_model };
  const starters = (await listStarterModels(db)).map(({ modelName }) => modelName);
  const stateOf = async (modelName: string, id: Parameters<IsPreparing>[0]): Promise<VisitorTryState> => {
    if (starters.includes(modelName)) return 'ready';
    return (await isPreparing(id)) ? 'preparing' : 'off';
  };
  return {
    picture: await stateOf(PARIS_MODEL, 'starter-image-model'),
    chat: await stateOf(chat_model, 'starter-language-model'),
    chat_model,
  };
}
