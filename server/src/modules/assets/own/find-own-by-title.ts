import type { DatasetType } from '@bakehouse/contract/assets';
import type { Transaction } from '../../../platform/db/database.ts';
import { selectOwnByTitle } from './queries.ts';

/** Returns the user's newest asset with this title, with its newest revision; undefined if none. */
export async function findOwnByTitle(
  tx: Transaction,
  wanted: { userId: string; title: string; datasetType: DatasetType },
): Promise<{ id: string; revisionId: string | null } | undefined> {
  return selectOwnByTitle(tx, wanted);
}
