import * as contract from '@bakehouse/contract/accounts';
import * as keys from '@bakehouse/contract/api-keys';
import * as profile from '@bakehouse/contract/profile';
import { type Binding, bind, bindPublic } from '../../platform/http/bind.ts';
import {
  changeApiKey,
  createApiKey,
  getApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
  rotateApiKeyById,
} from './keys/api-keys.ts';
import { changeOnboarding } from './onboarding.ts';
import { endOtherSessions, endSession, listSessions } from './sessions/sessions.ts';
import { getSignInMethods } from './sign-in/get-sign-in-methods.ts';
import { getMe } from './users.ts';

export const accountsRoutes: Binding[] = [
  bind(contract.getApiKey, (ctx) => getApiKey(ctx)),
  bind(contract.rotateApiKey, (ctx) => rotateApiKey(ctx)),
  bind(keys.listApiKeys, (ctx, { query }) => listApiKeys(ctx, query)),
  bind(keys.createApiKey, createApiKey),
  bind(keys.changeApiKey, changeApiKey),
  bind(keys.revokeApiKey, revokeApiKey),
  bind(keys.rotateApiKeyById, rotateApiKeyById),
  bind(contract.getMe, (ctx) => getMe(ctx)),
  bind(contract.changeOnboarding, changeOnboarding),
  bind(profile.listSessions, (ctx) => listSessions(ctx)),
  bind(profile.endSession, endSession),
  bind(profile.endOtherSessions, (ctx) => endOtherSessions(ctx)),
  bindPublic(contract.getSignInMethods, async (ctx) => getSignInMethods(ctx)),
];
