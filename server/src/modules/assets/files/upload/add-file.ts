import type { uploadFile as uploadFileEndpoint } from '@bakehouse/contract/assets';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Transaction } from '../../../../platform/db/database.ts';
import { conflict } from '../../../../platform/errors.ts';
import type { Blob } from '../../../../platform/storage/blob-store.ts';
import { recordAudit } from '../../../accounts/record-audit.ts';
import { lockChangeableAsset } from '../../access/changeable.ts';
import { findNewestFile } from '../../queries.ts';
import { saveFamily } from '../../recognise/family.ts';
import { addRevision } from '../../revisions/add-revision.ts';
import { toWireFile } from '../../to-wire.ts';
import { findFileAbove, listFilesBelow } from '../folder-queries.ts';
import { assertBlobsFitQuota, type Quota } from '../storage-quota.ts';

type Input = {
  assetId: string;
  userId: string;
  path: string;
  blob: Blob;
  quota: Quota;
  /** The model family that the file names; null if it names none. */
  family: string | null;
  /** Names of the request fields for the path and the bytes, for errors. */
  params: { path: string; bytes: string };
};

/**
 * Step: adds a revision of a user's asset that contains this file, and replaces a file with the same path. If
 * the bytes are identical, nothing changes. Throws the errors of `lockChangeableAsset`,
 * `assertNoPathConflict` and `assertBlobsFitQuota`.
 */
export async function addFile(
  tx: Transaction,
  { assetId, userId, path, blob, quota, family, params }: Input,
): Promise<ResponseOf<typeof uploadFileEndpoint>> {
  const asset = await lockChangeableAsset(tx, { assetId, userId });
  const present = await findNewestFile(tx, asset.id, path);
  if (present?.sha256 === blob.sha256 && asset.revision_id) {
    return { file: toWireFile(present), revision_id: asset.revision_id };
  }
  await assertNoPathConflict(tx, { assetId: asset.id, path, param: params.path });
  await assertBlobsFitQuota(tx, { userId, quota, blobs: [blob], param: params.bytes });
  const revisionId = await addRevision(tx, asset, {
    put: [{ path, ...blob }],
    remove: [],
    message: `Upload ${path}`,
    authorUserId: userId,
  });
  if (family !== null) await saveFamily(tx, asset.id, { path, family });
  await recordAudit(tx, {
    userId,
    action: 'asset.file_uploaded',
    detail: { asset_id: asset.id, path, sha256: blob.sha256 },
  });
  const file = await findNewestFile(tx, asset.id, path);
  if (!file) throw new Error(`${path} is missing in its own revision`);
  return { file: toWireFile(file), revision_id: revisionId };
}

/**
 * Step: throws AppError 'conflict' if a parent folder of the path is a file, or if the path is a folder. A
 * workload could not write such paths to its disk.
 */
export async function assertNoPathConflict(
  tx: Transaction,
  { assetId, path, param }: { assetId: string; path: string; param: string },
): Promise<void> {
  const above = await findFileAbove(tx, assetId, path);
  if (above) throw conflict(`${above} is a file, not a folder. Delete it first`, { param });
  const below = await listFilesBelow(tx, assetId, { path, prefix: `${path}/`, after: null, limit: 1 });
  if (below.length > 0) throw conflict(`${path} is a folder: delete its files first`, { param });
}
