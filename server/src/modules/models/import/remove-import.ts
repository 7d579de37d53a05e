import type { Database } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { conflict, notFoundError } from '../../../platform/errors.ts';
import type { FindAssetUse } from '../../assets/asset-use.ts';
import { purgeAsset } from '../../assets/purge-asset.ts';
import { removeAsset } from '../../assets/remove-asset.ts';
import { BUILT_IN_STARTERS } from '../starter/built-in-starters.ts';
import { lockStarterAssets } from '../starter/queries.ts';

type Removed = { title: string; datasetType: string; bytes: bigint };

/**
 * Deletes a shared model or dataset that an operator imported, by title or id; its blobs are collected within
 * the hour. Throws AppError 'not_found', and 'conflict' if it is in use, is one of the program's own, or the
 * title is ambiguous.
 */
export async function removeImport(
  db: Database,
  { name, findUses }: { name: string; findUses: FindAssetUse[] },
): Promise<Removed> {
  const asset = await inTransaction(db, async (tx) => {
    const [found, ...others] = await lockStarterAssets(tx, name);
    if (!found)
      throw notFoundError(
        `No shared model or dataset is named '${name}'. Only its owner can delete an asset that is not shared`,
      );
    if (others.length > 0)
      throw conflict(
        `Several shared models or datasets have the title '${name}'. Use the id of one: ${[found, ...others].map(({ id }) => id).join(', ')}`,
      );
    if (BUILT_IN_STARTERS.includes(found.slug))
      throw conflict(`'${found.title}' is part of Bakehouse and cannot be removed`);
    await removeAsset(tx, { asset: found, userId: null, findUses });
    return found;
  });
  // The purge deletes rows in batches. The name becomes free with the last batch.
  while (!(await purgeAsset(db, { assetId: asset.id })));
  return asset;
}
