import type { DatasetType } from '@bakehouse/contract/assets';
import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';

/** An asset's position in creation order. */
export type Place = { id: string; created_at: Date };

/** Returns a user's assets, newest first; with `after`, only older ones. */
export async function selectOwnAssets(
  db: Database,
  { userId, after, limit }: { userId: string; after: Place | null; limit: number },
): Promise<Place[]> {
  return db
    .selectFrom('assets')
    .select(['id', 'created_at'])
    .where('owner_user_id', '=', userId)
    .where('deleted_at', 'is', null)
    .$if(after !== null, (query) =>
      query.where(sql<boolean>`(created_at, id) < (${after?.created_at}, ${after?.id})`),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Returns the user's newest asset with this title, with its newest revision. */
export async function selectOwnByTitle(
  tx: Transaction,
  { userId, title, datasetType }: { userId: string; title: string; datasetType: DatasetType },
): Promise<{ id: string; revisionId: string | null } | undefined> {
  return tx
    .selectFrom('assets')
    .select(['id', 'revision_id as revisionId'])
    .where('owner_user_id', '=', userId)
    .where('dataset_type', '=', datasetType)
    .where('title', '=', title)
    .where('deleted_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Returns a user's models with files, newest first. */
export async function selectOwnModels(
  db: Database,
  { userId, limit }: { userId: string; limit: number },
): Promise<{ id: string; title: string }[]> {
  return db
    .selectFrom('assets')
    .select(['id', 'title'])
    .where('owner_user_id', '=', userId)
    .where('dataset_type', '=', 'MODEL')
    .where('deleted_at', 'is', null)
    .where('revision_id', 'is not', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export async function countOwnAssets(
  db: Database,
  userId: string,
): Promise<{ datasets: number; models: number }> {
  const { all, models } = await db
    .selectFrom('assets')
    .select(({ fn }) => [
      fn.countAll<bigint>().as('all'),
      fn.countAll<bigint>().filterWhere('dataset_type', '=', 'MODEL').as('models'),
    ])
    .where('owner_user_id', '=', userId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return { datasets: Number(all - models), models: Number(models) };
}
