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
import { getAsset, listAssets, updateAsset } from './assets.ts';
import { getCard } from './card/get-card.ts';
import { saveCard } from './card/save-card.ts';
import { deleteFile } from './files/deletion/delete-file.ts';
import { downloadFile } from './files/download-file.ts';
import { getCopyStatus, getInfo, listTree } from './files/files.ts';
import { openFileLink } from './files/links/check-link.ts';
import { downloadImage } from './files/links/download-image.ts';
import { answerLink, linkFile } from './files/links/file-links.ts';
import {
  abandonUpload,
  completeUpload,
  createUpload,
  getUpload,
  getUploadLimits,
  listUploads,
  putPart,
} from './files/upload/parts/uploads.ts';
import { type CheckModelFile, uploadFile } from './files/upload/upload-file.ts';
import { listVersions } from './files/versions/versions.ts';
import { deleteAsset } from './remove-asset.ts';
import { restrictedRoutes } from './restricted/routes.ts';
import { listAssetCommits } from './revisions/commits.ts';
import { compareCommits } from './revisions/compare-commits.ts';
import { search } from './search/search.ts';
import { listShares, shareAsset, unshareAsset } from './sharing/shares.ts';

const DOWNLOADS_PER_MINUTE = 120;

/**
 * All asset routes except `POST /api/v1/asset`. The training module binds that route, because it also starts
 * fine-tunes.
 */
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
    bind(uploads.completeUpload, (ctx, input) => completeUpload(ctx, input, parts)),
    bind(uploads.abandonUpload, abandonUpload),
    bind(contract.downloadFile, (ctx, input, { request }) =>
      request.headers.bagel_source === undefined ? downloadFile(ctx, input, request) : answerLink(ctx, input),
    ),
    bind(links.linkFile, (ctx, { params, query }) => linkFile(ctx, { assetId: params.id, ...query })),
    bindPublic(links.openFileLink, (ctx, input, { request }) => openFileLink(ctx, input, request)),
    bindPublic(links.downloadImage, (ctx, input, { request }) => downloadImage(ctx, input, request), {
      callsPerMinute: DOWNLOADS_PER_MINUTE,
    }),
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
