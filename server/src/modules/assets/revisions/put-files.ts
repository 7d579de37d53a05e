import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { lockBlobs } from '../../../platform/storage/queries.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { lockChangeableAsset } from '../access/lock-changeable-asset.ts';
import { addRevision, type NewFile } from '../add-revision.ts';
import { readQuota, takeStorage } from '../files/storage-quota.ts';
import { refuseClashes } from './refuse-clashes.ts';

type Input = {
  assetId: string;
  userId: string;
  /** The newest revision when the files were chosen; null if there was none. */
  revisionId: string | null;
  files: NewFile[];
  /** The field of the call that names the files. */
  param: string;
};

/**
 * Step: adds a revision with these files to an asset of the user, replacing files with the same paths. The
 * store must contain their bytes. Throws AppError 'conflict' if the asset has changed in the meantime, or if
 * a path would be both a file and a folder, the errors of `lockChangeableAsset`, and 'payload_too_large'.
 */
export async function putFiles(
  tx: Transaction,
  config: Services['config'],
  { assetId, userId, revisionId, files, param }: Input,
): Promise<string> {
  const asset = await lockChangeableAsset(tx, { assetId, userId });
  if (asset.revision_id !== revisionId) {
    throw new AppError('conflict', {
      publicMessage: `${asset.title} has changed meanwhile. Please try again`,
    });
  }
  await refuseClashes(tx, assetId, { put: files, removed: new Set(), param });
  await lockBlobs(
    tx,
    files.map(({ sha256 }) => sha256),
  );
  const quota = await readQuota({ config, db: tx }, userId);
  await takeStorage(tx, { userId, quota, blobs: files, param });
  const added = await addRevision(tx, asset, {
    put: files,
    remove: [],
    message: files.length === 1 ? `Add ${files[0]?.path}` : `Add ${files.length} files`,
    authorUserId: userId,
  });
  await recordAudit(tx, {
    userId,
    action: 'asset.files_added',
    detail: { asset_id: assetId, files: String(files.length) },
  });
  return added;
}
