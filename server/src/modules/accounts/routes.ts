import * as contract from '@bakehouse/contract/accounts';
import * as keys from '@bakehouse/contract/api-keys';
import { type Binding, bind, bindPublic } from '../../platform/http/bind.ts';
import { getMe } from './get-me.ts';
import { getSignInMethods } from './get-sign-in-methods.ts';
import { changeApiKey } from './keys/change-api-key.ts';
import { createApiKey } from './keys/create-api-key.ts';
import { getApiKey } from './keys/get-api-key.ts';
import { listApiKeys } from './keys/list-api-keys.ts';
import { revokeApiKey } from './keys/revoke-api-key.ts';
import { rotateApiKey, rotateApiKeyById } from './keys/rotate-api-key.ts';

export const accountsRoutes: Binding[] = [
  bind(contract.getApiKey, (ctx) => getApiKey(ctx)),
  bind(contract.rotateApiKey, (ctx) => rotateApiKey(ctx)),
  bind(keys.listApiKeys, (ctx) => listApiKeys(ctx)),
  bind(keys.createApiKey, createApiKey),
  bind(keys.changeApiKey, changeApiKey),
  bind(keys.revokeApiKey, revokeApiKey),
  bind(keys.rotateApiKeyById, rotateApiKeyById),
  bind(contract.getMe, (ctx) => getMe(ctx)),
  bindPublic(contract.getSignInMethods, async (ctx) => getSignInMethods(ctx)),
];
