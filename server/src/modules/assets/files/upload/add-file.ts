import type { uploadFile as endpoint } from '@bakehouse/contract/assets';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Transaction } from '../../../../platform/db/database.ts';
import type { Blob } from '../../../../platform/storage/blob-store.ts';
import { recordAudit } from '../../../accounts/record-audit.ts';
import { lockChangeableAsset } from '../../access/lock-changeable-asset.ts';
import { addRevision } from '../../add-revision.ts';
import { findNewestFile } from '../../queries.ts';
import { noteFamily } from '../../recognise/note-family.ts';
import { toWireFile } from '../../to-wire.ts';
import { type Quota, takeStorage } from '../storage-quota.ts';
import { refuseClash } from './refuse-clash.ts';

type Input = {
  assetId: string;
  userId: string;
  path: string;
  blob: Blob;
  quota: Quota;
  /** The model family in the file; null if it has none. */
  family: string | null;
  /** The fields of the path and the bytes. */
  params: { path: string; bytes: string };
};

/**
 * Step: adds a revision of a user's asset with this file, replacing a file with the same path; identical
 * bytes change nothing. Throws the errors of `lockChangeableAsset`, `refuseClash` and `takeStorage`.
 */
export async function addFile(
  tx: Transaction,
  { assetId, userId, path, blob, quota, family, params }: Input,
): Promise<ResponseOf<typeof endpoint>> {
  const asset = await lockChangeableAsset(tx, { assetId, userId });
  const present = await findNewestFile(tx, asset.id, path);
  if (present?.sha256 === blob.sha256 && asset.revision_id) {
    return { file: toWireFile(present), revision_id: asset.revision_id };
  }
  await refuseClash(tx, { assetId: asset.id, path, param: params.path });
  await takeStorage(tx, { userId, quota, blobs: [blob], param: params.bytes });
  const revisionId = await addRevision(tx, asset, {
    put: [{ path, ...blob }],
    remove: [],
    message: `Upload ${path}`,
    authorUserId: userId,
  });
  if (family !== null) await noteFamily(tx, asset.id, { path, family });
  await recordAudit(tx, {
    userId,
    action: 'asset.file_uploaded',
    detail: { asset_id: asset.id, path, sha256: blob.sha256 },
  });
  const file = await findNewestFile(tx, asset.id, path);
  if (!file) throw new Error(`${path} is missing in its own revision`);
  return { file: toWireFile(file), revision_id: revisionId };
}
