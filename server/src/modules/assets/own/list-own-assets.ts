import type { Database } from '../../../platform/db/database.ts';
import { type Place, selectOwnAssets } from './queries.ts';

const PAGE = 500;

/** Yields the ids of all assets of a user, newest first, so that derived assets precede their sources. */
export async function* listOwnAssets(db: Database, userId: string): AsyncGenerator<string> {
  let after: Place | null = null;
  do {
    const page: Place[] = await selectOwnAssets(db, { userId, after, limit: PAGE });
    for (const { id } of page) yield id;
    after = page.length === PAGE ? (page.at(-1) ?? null) : null;
  } while (after);
}
