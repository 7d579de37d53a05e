import * as contract from '@bakehouse/contract/assets';
import { deleteModel as deleteModelContract } from '@bakehouse/contract/chat';
import { listLoras as loras } from '@bakehouse/contract/loras';
import { type Binding, bind } from '../../platform/http/bind.ts';
import type { FindAssetUse } from '../assets/asset-use.ts';
import { deleteModel } from './fine-tuned/fine-tuned.ts';
import { getModelReadiness, type ModelUses } from './get-model-readiness.ts';
import { listLoras } from './loras/loras.ts';

export function modelsRoutes(uses: ModelUses, findUses: FindAssetUse[]): Binding[] {
  return [
    bind(deleteModelContract, (ctx, { params: { model } }) => deleteModel(ctx, { model, findUses })),
    bind(loras, (ctx, { query }) => listLoras(ctx, query)),
    bind(contract.getModelReadiness, (ctx, { params }) =>
      getModelReadiness(ctx, { assetId: params.id, uses }),
    ),
  ];
}
