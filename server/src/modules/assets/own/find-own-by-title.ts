import type { DatasetType } from '@bakehouse/contract/assets';
import type { Transaction } from '../../../platform/db/database.ts';
import { selectOwnByTitle } from './queries.ts';

/** The newest dataset or model of the user that has this title, with its newest revision; undefined where there is none. */
export async function findOwnByTitle(
  tx: Transaction,
  wanted: { userId: string; title: string; datasetType: DatasetType },
): Promise<{ id: string; revisionId: string | null } | undefined> {
  return selectOwnByTitle(tx, wanted);
}
