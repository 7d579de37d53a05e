import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { lockBlobs } from '../../platform/storage/queries.ts';
import { addRevision, type NewFile } from './add-revision.ts';
import { CARD_PATH, findAsset, listNewestFiles, lockAsset } from './queries.ts';

/**
 * Adds a revision with exactly these files, or with these and the asset's other files. Their bytes must be in
 * the blob store. With `keepsOthers`, an existing card stays, because its owner may have edited it in the
 * meantime. Adds nothing if the newest revision has the same files. Throws AppError 'not_found' if the asset
 * was deleted in the meantime, and an Error if the store lacks a file's bytes.
 */
export async function createRevisionFromBlobs(
  tx: Transaction,
  input: { assetId: string; files: NewFile[]; keepsOthers?: boolean; message?: string },
): Promise<{ revisionId: string }> {
  for (const { path } of input.files) refuseStrayPath(path);
  await lockAsset(tx, input.assetId);
  const asset = await findAsset(tx, input.assetId);
  if (!asset) throw new AppError('not_found', { publicMessage: 'Asset not found' });
  const present = new Map((await listNewestFiles(tx, asset.id)).map((file) => [file.path, file.sha256]));
  const keepsCard = input.keepsOthers === true && present.has(CARD_PATH);
  const put = input.files.filter(
    (file) => present.get(file.path) !== file.sha256 && !(keepsCard && file.path === CARD_PATH),
  );
  const wanted = new Set(input.files.map((file) => file.path));
  const remove = input.keepsOthers ? [] : [...present.keys()].filter((path) => !wanted.has(path));
  if (asset.revision_id && put.length === 0 && remove.length === 0) return { revisionId: asset.revision_id };
  await lockBlobs(
    tx,
    put.map((file) => file.sha256),
  );
  return {
    revisionId: await addRevision(tx, asset, {
      put,
      remove,
      message: input.message ?? '',
      authorUserId: asset.owner_user_id,
    }),
  };
}

function refuseStrayPath(path: string): void {
  const parts = path.split('/');
  if (path.includes('\\') || parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw new Error(`Not a path inside an asset: ${path}`);
  }
}
