import * as contract from '@bakehouse/contract/accounts';
import { type Binding, bind, bindPublic } from '../../platform/http/bind.ts';
import { getApiKey } from './get-api-key.ts';
import { getMe } from './get-me.ts';
import { getSignInMethods } from './get-sign-in-methods.ts';
import { rotateApiKey } from './rotate-api-key.ts';

export const accountsRoutes: Binding[] = [
  bind(contract.getApiKey, (ctx) => getApiKey(ctx)),
  bind(contract.rotateApiKey, (ctx) => rotateApiKey(ctx)),
  bind(contract.getMe, (ctx) => getMe(ctx)),
  bindPublic(contract.getSignInMethods, async (ctx) => getSignInMethods(ctx)),
];
