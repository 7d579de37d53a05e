import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { lockBlobs } from '../../platform/storage/queries.ts';
import { addRevision, type NewFile } from './add-revision.ts';
import { CARD_PATH, findAsset, listNewestFiles, lockAsset } from './queries.ts';

/**
 * Gives an asset a revision of exactly these files, or of these and the others that it has, whose bytes the blob store
 * already holds, e.g. what a run has made. A card is one of the others where there is one already: its owner has written it
 * meanwhile. Where the newest revision lists the same it stays. Throws
 * AppError('not_found') when the asset was deleted meanwhile, and an Error when the store does not
 * hold the bytes of a file.
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
