import * as contract from '@bakehouse/contract/assets';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { deleteAsset, type FindAssetUse } from './delete-asset.ts';
import { deleteFile } from './delete-file.ts';
import { downloadFile } from './download-file.ts';
import { getAsset } from './get-asset.ts';
import { getInfo } from './get-info.ts';
import { getModelReadiness, type ModelUses } from './get-model-readiness.ts';
import { listAssets } from './list-assets.ts';
import { previewFile } from './preview/preview-file.ts';
import { updateAsset } from './update-asset.ts';
import { uploadFile } from './upload-file.ts';

/** All routes but `POST /api/v1/asset`, which training binds since it may start a fine-tune. */
export function assetsRoutes(parts: { findUses: FindAssetUse[]; modelUses: ModelUses }): Binding[] {
  return [
    bind(contract.getAsset, (ctx, { params }) => getAsset(ctx, { assetId: params.id })),
    bind(contract.listAssets, (ctx, { query }) => listAssets(ctx, query)),
    bind(contract.updateAsset, (ctx, { params, body }) =>
      updateAsset(ctx, { assetId: params.id, changes: body }),
    ),
    bind(contract.deleteAsset, (ctx, { params }) =>
      deleteAsset(ctx, { assetId: params.id, findUses: parts.findUses }),
    ),
    bind(contract.getModelReadiness, (ctx, { params }) =>
      getModelReadiness(ctx, { assetId: params.id, uses: parts.modelUses }),
    ),
    bind(contract.uploadFile, (ctx, { params }, { request }) =>
      uploadFile(ctx, { assetId: params.id, request }),
    ),
    bind(contract.downloadFile, downloadFile),
    bind(contract.deleteFile, (ctx, { params, body }) =>
      deleteFile(ctx, { assetId: params.id, path: body.file_path }),
    ),
    bind(contract.assetInfo, (ctx, { params, query }) => getInfo(ctx, { assetId: params.id, ...query })),
    bind(contract.previewFile, (ctx, { params, query }) =>
      previewFile(ctx, { assetId: params.id, ...query }),
    ),
  ];
}
