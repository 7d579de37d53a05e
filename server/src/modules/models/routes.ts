import * as contract from '@bakehouse/contract/assets';
import { listLoras as loras } from '@bakehouse/contract/loras';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { getModelReadiness, type ModelUses } from './get-model-readiness.ts';
import { listLoras } from './loras/list-loras.ts';

export function modelsRoutes(uses: ModelUses): Binding[] {
  return [
    bind(loras, (ctx, { query }) => listLoras(ctx, query)),
    bind(contract.getModelReadiness, (ctx, { params }) =>
      getModelReadiness(ctx, { assetId: params.id, uses }),
    ),
  ];
}
