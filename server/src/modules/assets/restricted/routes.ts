import * as contract from '@bakehouse/contract/restricted-models';
import { type Binding, bind } from '../../../platform/http/bind.ts';
import { decideAccessRequest, listAccessRequests, requestAccess } from './access-requests.ts';
import {
  deleteRestrictedModel,
  getRestrictedModel,
  listRestrictedModels,
  saveRestrictedModel,
} from './restricted-models.ts';

export const restrictedRoutes: Binding[] = [
  bind(contract.listRestrictedModels, listRestrictedModels),
  bind(contract.getRestrictedModel, (ctx, { params }) => getRestrictedModel(ctx, params)),
  bind(contract.requestAccess, requestAccess, { callsPerMinute: 10 }),
  bind(contract.saveRestrictedModel, saveRestrictedModel),
  bind(contract.deleteRestrictedModel, (ctx, { params }) => deleteRestrictedModel(ctx, params)),
  bind(contract.listAccessRequests, listAccessRequests),
  bind(contract.decideAccessRequest, decideAccessRequest),
];
