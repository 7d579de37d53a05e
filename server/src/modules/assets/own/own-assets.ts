import type { DatasetType } from '@bakehouse/contract/assets';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { type Place, selectOwnAssets, selectOwnByTitle, selectOwnModels } from './queries.ts';

const PAGE = 500;

/** Returns the user's newest asset with this title, with its newest revision; undefined if none. */
export async function findOwnByTitle(
  tx: Transaction,
  wanted: { userId: string; title: string; datasetType: DatasetType },
): Promise<{ id: string; revisionId: string | null } | undefined> {
  return selectOwnByTitle(tx, wanted);
}

/** Yields the ids of all assets of a user, newest first, so derived assets precede their sources. */
export async function* listOwnAssets(db: Database, userId: string): AsyncGenerator<string> {
  let after: Place | null = null;
  do {
    const page: Place[] = await selectOwnAssets(db, { userId, after, limit: PAGE });
    for (const { id } of page) yield id;
    after = page.length === PAGE ? (page.at(-1) ?? null) : null;
  } while (after);
}

/** Returns up to `limit` of a user's models with files, newest first. */
export async function listOwnModels(
  db: Database,
  asked: { userId: string; limit: number },
): Promise<{ id: string; title: string }[]> {
  return selectOwnModels(db, asked);
}
