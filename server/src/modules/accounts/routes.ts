import * as contract from '@bakehouse/contract/accounts';
import * as keys from '@bakehouse/contract/api-keys';
import * as profile from '@bakehouse/contract/profile';
import { type Binding, bind, bindPublic } from '../../platform/http/bind.ts';
import { changeOnboarding } from './change-onboarding.ts';
import { getMe } from './get-me.ts';
import { changeApiKey } from './keys/change-api-key.ts';
import { createApiKey } from './keys/create-api-key.ts';
import { getApiKey } from './keys/get-api-key.ts';
import { listApiKeys } from './keys/list-api-keys.ts';
import { revokeApiKey } from './keys/revoke-api-key.ts';
import { rotateApiKey, rotateApiKeyById } from './keys/rotate-api-key.ts';
import { endOtherSessions } from './sessions/end-other-sessions.ts';
import { endSession } from './sessions/end-session.ts';
import { listSessions } from './sessions/list-sessions.ts';
import { getSignInMethods } from './sign-in/get-sign-in-methods.ts';

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
