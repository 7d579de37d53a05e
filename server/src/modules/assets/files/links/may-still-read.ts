import type { Database } from '../../../../platform/db/database.ts';
import { AppError } from '../../../../platform/errors.ts';
import { ownsBlob } from '../../../../platform/storage/owner-queries.ts';
import { isAccountThere } from '../../../accounts/steps.ts';
import { findReadableAsset } from '../../access/find-readable-asset.ts';
import type { LinkHolder } from './sign-link.ts';

/** Returns true if the creator of a link still exists and may still read the file. */
export async function mayStillRead(
  db: Database,
  { user: userId, asset, revision, sha256 }: LinkHolder & { sha256: string },
): Promise<boolean> {
  if (!(await isAccountThere(db, userId))) return false;
  if (asset === undefined) return ownsBlob(db, userId, sha256);
  return (
    (await mayReadAsset(db, { assetId: asset, userId })) &&
    (await hasBlob(db, { assetId: asset, sha256, isNewest: revision === undefined }))
  );
}

async function mayReadAsset(db: Database, wanted: { assetId: string; userId: string }): Promise<boolean> {
  try {
    await findReadableAsset(db, wanted);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return false;
    throw error;
  }
}

/** Returns true if a file of the asset has these bytes, in its newest revision or in any. */
async function hasBlob(
  db: Database,
  { assetId, sha256, isNewest }: { assetId: string; sha256: string; isNewest: boolean },
): Promise<boolean> {
  let query = db
    .selectFrom('asset_files')
    .select('sha256')
    .where('sha256', '=', sha256)
    .where('asset_id', '=', assetId);
  if (isNewest) query = query.where('last_number', 'is', null);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}
