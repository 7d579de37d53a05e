import type { DatasetType } from '@bakehouse/contract/assets';
import type { Transaction } from '../../../platform/db/database.ts';
import { type AssetRow, findAsset } from '../queries.ts';
import { findMirrored, insertMirrored, setFamily } from './repository-queries.ts';

/** Step: everybody's copy of a repository of the public hub, by the name that it has there; made where there is none yet. */
export async function openMirrored(
  tx: Transaction,
  repository: { datasetType: DatasetType; namespace: string; name: string; family: string },
): Promise<AssetRow> {
  const type = repository.datasetType === 'MODEL' ? 'model' : 'dataset';
  const known = await findMirrored(tx, { ...repository, type });
  if (known) {
    await setFamily(tx, known.id, repository.family);
    return known;
  }
  const made = await findAsset(tx, await insertMirrored(tx, repository));
  if (!made) throw new Error('a repository that was just made is not there');
  return made;
}
