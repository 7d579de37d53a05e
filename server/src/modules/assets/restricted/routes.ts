import * as contract from '@bakehouse/contract/restricted-models';
import { type Binding, bind } from '../../../platform/http/bind.ts';
import { decideAccessRequest } from './decide-access-request.ts';
import { deleteRestrictedModel } from './delete-restricted-model.ts';
import { getRestrictedModel } from './get-restricted-model.ts';
import { listAccessRequests } from './list-access-requests.ts';
import { listRestrictedModels } from './list-restricted-models.ts';
import { requestAccess } from './request-access.ts';
import { saveRestrictedModel } from './save-restricted-model.ts';

export const restrictedRoutes: Binding[] = [
  bind(contract.listRestrictedModels, listRestrictedModels),
  bind(contract.getRestrictedModel, (ctx, { params }) => getRestrictedModel(ctx, params)),
  bind(contract.requestAccess, requestAccess, { callsPerMinute: 10 }),
  bind(contract.saveRestrictedModel, saveRestrictedModel),
  bind(contract.deleteRestrictedModel, (ctx, { params }) => deleteRestrictedModel(ctx, params)),
  bind(contract.listAccessRequests, listAccessRequests),
  bind(contract.decideAccessRequest, decideAccessRequest),
];
