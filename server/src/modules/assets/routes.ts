import * as commits from '@bakehouse/contract/asset-commits';
import { filesCopyStatus } from '@bakehouse/contract/asset-files';
import * as shares from '@bakehouse/contract/asset-shares';
import * as uploads from '@bakehouse/contract/asset-uploads';
import * as contract from '@bakehouse/contract/assets';
import * as data from '@bakehouse/contract/data-files';
import * as links from '@bakehouse/contract/file-links';
import { search as searchEndpoint } from '@bakehouse/contract/search';
import { type Binding, bind, bindPublic } from '../../platform/http/bind.ts';
import type { FindAssetUse } from './asset-use.ts';
import { getCard } from './card/get-card.ts';
import { saveCard } from './card/save-card.ts';
import { deleteAsset } from './delete-asset.ts';
import { deleteFile } from './files/deletion/delete-file.ts';
import { downloadFile } from './files/download-file.ts';
import { getCopyStatus } from './files/get-copy-status.ts';
import { getInfo } from './files/get-info.ts';
import { downloadImage } from './files/links/download-image.ts';
import { linkFile } from './files/links/link-file.ts';
import { openFileLink } from './files/links/open-file-link.ts';
import { sendLink } from './files/links/send-link.ts';
import { listTree } from './files/list-tree.ts';
import { abandonUpload } from './files/upload/parts/abandon-upload.ts';
import { completeUpload } from './files/upload/parts/complete-upload.ts';
import { createUpload } from './files/upload/parts/create-upload.ts';
import { getUpload, listUploads } from './files/upload/parts/get-upload.ts';
import { getUploadLimits } from './files/upload/parts/get-upload-limits.ts';
import { putPart } from './files/upload/parts/put-part.ts';
import { type CheckModelFile, uploadFile } from './files/upload/upload-file.ts';
import { listVersions } from './files/versions/list-versions.ts';
import { getAsset } from './get-asset.ts';
import { listAssets } from './list-assets.ts';
import { restrictedRoutes } from './restricted/routes.ts';
import { compareCommits } from './revisions/compare-commits.ts';
import { listAssetCommits } from './revisions/list-asset-commits.ts';
import { search } from './search/search.ts';
import { listShares } from './sharing/list-shares.ts';
import { shareAsset } from './sharing/share-asset.ts';
import { unshareAsset } from './sharing/unshare-asset.ts';
import { updateAsset } from './update-asset.ts';

const DOWNLOADS_PER_MINUTE = 120;

/** All routes except `POST /api/v1/asset`, which the training module binds to start fine-tunes. */
export function assetsRoutes(parts: { findUses: FindAssetUse[]; checkModelFile: CheckModelFile }): Binding[] {
  return [
    bind(contract.getAsset, (ctx, { params }) => getAsset(ctx, { assetId: params.id })),
    bind(contract.listAssets, (ctx, { query }) => listAssets(ctx, query)),
    bind(searchEndpoint, (ctx, { query }) => search(ctx, query)),
    bind(contract.updateAsset, (ctx, { params, body }) =>
      updateAsset(ctx, { assetId: params.id, changes: body }),
    ),
    bind(contract.deleteAsset, (ctx, { params }) =>
      deleteAsset(ctx, { assetId: params.id, findUses: parts.findUses }),
    ),
    bind(contract.uploadFile, (ctx, { params }, { request }) =>
      uploadFile(ctx, { assetId: params.id, request, checkModelFile: parts.checkModelFile }),
    ),
    bind(uploads.getUploadLimits, getUploadLimits),
    bind(uploads.createUpload, createUpload),
    bind(uploads.listUploads, listUploads),
    bind(uploads.getUpload, getUpload),
    bind(uploads.putUploadPart, putPart),
    bind(uploads.completeUpload, (ctx, input, http) => completeUpload(ctx, input, http, parts)),
    bind(uploads.abandonUpload, abandonUpload),
    bind(contract.downloadFile, (ctx, input, http) =>
      http.request.headers.bagel_source === undefined
        ? downloadFile(ctx, input, http)
        : sendLink(ctx, input, http),
    ),
    bind(links.linkFile, (ctx, { params, query }) => linkFile(ctx, { assetId: params.id, ...query })),
    bindPublic(links.openFileLink, openFileLink),
    bindPublic(links.downloadImage, downloadImage, { callsPerMinute: DOWNLOADS_PER_MINUTE }),
    bind(contract.deleteFile, (ctx, { params, body }) =>
      deleteFile(ctx, { assetId: params.id, path: body.file_path }),
    ),
    bind(contract.assetInfo, (ctx, { params, query }) => getInfo(ctx, { assetId: params.id, ...query })),
    bind(filesCopyStatus, getCopyStatus),
    bind(contract.assetTree, (ctx, { params, query }) => listTree(ctx, { assetId: params.id, ...query })),
    bind(commits.listAssetCommits, listAssetCommits),
    bind(commits.compareCommits, (ctx, { params, query }) =>
      compareCommits(ctx, { assetId: params.id, ...query }),
    ),
    bind(commits.getCard, (ctx, { params }) => getCard(ctx, { assetId: params.id })),
    bind(commits.saveCard, (ctx, { params, body }) => saveCard(ctx, { assetId: params.id, ...body })),
    bind(shares.listShares, listShares),
    bind(shares.shareAsset, shareAsset),
    bind(shares.unshareAsset, unshareAsset),
    ...restrictedRoutes,
    bind(data.listFileVersions, listVersions),
  ];
}
