import { type SqlBool, sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { type AssetRow, selectAssets } from '../queries.ts';

/** Models and datasets have separate names. */
export type RepositoryType = 'model' | 'dataset';

/** Returns an owner's asset by its name, ignoring case. A null owner means the starter models. */
export async function findByName(
  db: Database | Transaction,
  { type, username, name }: { type: RepositoryType; username: string | null; name: string },
): Promise<AssetRow | undefined> {
  const owner = sql`coalesce((select id from users where username = ${username}), '')`;
  return (
    selectAssets(db)
      // Matches the expressions of the index.
      .where(sql<SqlBool>`coalesce(assets.owner_user_id, '') = ${owner}`)
      .where(sql<SqlBool>`(assets.dataset_type = 'MODEL') = ${type === 'model'}`)
      .where(sql<SqlBool>`lower(assets.name) = lower(${name})`)
      .where(sql<SqlBool>`(assets.owner_user_id is null) = ${username === null}`)
      .executeTakeFirst()
  );
}

/** Returns the asset that had this name before it was moved, unless its owner has reused the name. */
export async function findByOldName(
  db: Database | Transaction,
  { type, username, name }: { type: RepositoryType; username: string; name: string },
): Promise<AssetRow | undefined> {
  return selectAssets(db)
    .innerJoin('asset_old_names as old', 'old.asset_id', 'assets.id')
    .where(sql<SqlBool>`old.name = lower(${name})`)
    .where('users.username', '=', username)
    .where(sql<SqlBool>`(assets.dataset_type = 'MODEL') = ${type === 'model'}`)
    .executeTakeFirst();
}

/** Returns the asset of the restricted model with this id, if it has one. */
export async function findRestricted(
  db: Database | Transaction,
  modelId: string,
): Promise<AssetRow | undefined> {
  return selectAssets(db)
    .innerJoin('restricted_models as model', 'model.asset_id', 'assets.id')
    .where('model.id', '=', modelId)
    .executeTakeFirst();
}

export async function setName(tx: Transaction, assetId: string, name: string): Promise<void> {
  await tx
    .updateTable('assets')
    .set({ name, updated_at: sql<Date>`now()` })
    .where('id', '=', assetId)
    .execute();
}

export async function isNameTaken(
  tx: Transaction,
  { userId, type, name }: { userId: string; type: RepositoryType; name: string },
): Promise<boolean> {
  const row = await tx
    .selectFrom('assets')
    .select('id')
    .where(sql<SqlBool>`coalesce(owner_user_id, '') = ${userId}`)
    .where(sql<SqlBool>`(dataset_type = 'MODEL') = ${type === 'model'}`)
    .where(sql<SqlBool>`lower(name) = lower(${name})`)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}
