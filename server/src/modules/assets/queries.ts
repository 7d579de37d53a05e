import type { AssetSummary, DatasetType } from '@bakehouse/contract/assets';
import { type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { DB } from '../../platform/db/schema.generated.ts';
import { isReadableBy } from './access/readable.ts';
import type { CardFields } from './card/card-metadata.ts';

export type AssetRow = Selectable<DB['assets']> & {
  owner_username: string | null;
  downloads: bigint;
  /** True if the owner shares the asset with individual users. */
  is_shared: boolean;
  /** True if only users to whom an operator grants access may read the asset. */
  is_restricted: boolean;
  /** True for a complete model, false for an adapter. */
  is_whole: boolean;
};
export type StarterTask = NonNullable<AssetSummary['starter_task']>;
export type RevisionRow = Selectable<DB['revisions']>;
export type FileRow = Pick<Selectable<DB['asset_files']>, 'path' | 'sha256' | 'size_bytes' | 'uploaded_at'>;
export type LineageRow = Selectable<DB['asset_lineage']>;

/** The file that describes an asset. */
export const CARD_PATH = 'README.md';

/** Selects assets that are not deleted, each with its owner's name and its download count. */
export function selectAssets(db: Database | Transaction) {
  return db
    .selectFrom('assets')
    .leftJoin('users', 'users.id', 'assets.owner_user_id')
    .leftJoin('asset_downloads', 'asset_downloads.asset_id', 'assets.id')
    .where('assets.deleted_at', 'is', null)
    .selectAll('assets')
    .select([
      'users.username as owner_username',
      sql<bigint>`coalesce(asset_downloads.downloads, 0)`.as('downloads'),
      sql<boolean>`exists (select from asset_shares share where share.asset_id = assets.id)`.as('is_shared'),
      sql<boolean>`exists (select from restricted_models model where model.asset_id = assets.id)`.as(
        'is_restricted',
      ),
      isWhole(sql.ref('assets.id')).as('is_whole'),
    ]);
}

/** Returns the condition that the asset's newest files are a complete Transformers model, not an adapter. */
export function isWhole(assetId: RawBuilder<unknown>): RawBuilder<boolean> {
  const hasFile = (path: string) => sql<boolean>`exists (
    select from asset_files file where file.asset_id = ${assetId} and file.path = ${path} and file.last_number is null)`;
  return sql<boolean>`(${hasFile('config.json')} and not ${hasFile('adapter_config.json')})`;
}

export async function findAsset(db: Database | Transaction, assetId: string): Promise<AssetRow | undefined> {
  return selectAssets(db).where('assets.id', '=', assetId).executeTakeFirst();
}

/** Locks the asset until the transaction ends, so that changes to one asset are sequential. */
export async function lockAsset(tx: Transaction, assetId: string): Promise<void> {
  await tx.selectFrom('assets').select('id').where('id', '=', assetId).forUpdate().execute();
}

export async function selectTitles(db: Database, ids: string[]): Promise<{ id: string; title: string }[]> {
  return db
    .selectFrom('assets')
    .select(['id', 'title'])
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('deleted_at', 'is', null)
    .execute();
}

export type NewAsset = {
  /** Defaults to a new id. */
  id?: string;
  ownerUserId: string;
  datasetType: DatasetType;
  title: string;
  category: string;
  details: string;
  tags: string[];
  priceMicro?: bigint;
  embeddingModel?: string;
  dimensions?: number;
  isPublished?: boolean;
  useIpfs?: boolean;
  baseModelType?: string | null;
  family?: string;
  parentAssetId?: string | null;
  /** The repository name. Derived from the title by default. */
  name?: string;
};

export async function insertAsset(tx: Transaction, asset: NewAsset): Promise<string> {
  const { id } = await tx
    .insertInto('assets')
    .values({
      id: asset.id,
      owner_user_id: asset.ownerUserId,
      dataset_type: asset.datasetType,
      title: asset.title,
      category: asset.category,
      details: asset.details,
      tags: asset.tags,
      price_micro: asset.priceMicro,
      embedding_model: asset.embeddingModel,
      dimensions: asset.dimensions,
      is_published: asset.isPublished,
      use_ipfs: asset.useIpfs,
      base_model_type: asset.baseModelType,
      family: asset.family,
      parent_asset_id: asset.parentAssetId,
      name: asset.name,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/**
 * Returns models with this name that have files. The user's own models (by title) come first, then starter
 * and restricted models (by id).
 */
export async function selectModelsByName(
  db: Database | Transaction,
  { name, userId }: { name: string; userId: string },
): Promise<{ id: string; isReadable: boolean }[]> {
  const last = name.slice(name.lastIndexOf('/') + 1);
  const { rows } = await sql<{ id: string; isReadable: boolean }>`
    select id, is_readable as "isReadable" from (
      select id, true as is_readable, 0 as rank, created_at from assets
      where owner_user_id = ${userId} and lower(title) in (lower(${name}), lower(${last}))
        and dataset_type = 'MODEL' and revision_id is not null and deleted_at is null
      union all
      select id, true, 1, created_at from assets where starter_slug = ${name} and dataset_type = 'MODEL'
        and revision_id is not null
      union all
      select assets.id, coalesce(request.state = 'granted', false), 2, assets.created_at
      from restricted_models model
      join assets on assets.id = model.asset_id and assets.deleted_at is null and assets.revision_id is not null
      left join access_requests request on request.restricted_model_id = model.id and request.user_id = ${userId}
      where model.id = ${name}
    ) found
    order by rank, created_at desc, id`.execute(db);
  return rows;
}

export async function updateAssetRow(
  tx: Transaction,
  assetId: string,
  changes: Updateable<
    Pick<
      DB['assets'],
      'title' | 'details' | 'category' | 'tags' | 'price_micro' | 'is_published' | 'use_ipfs'
    >
  >,
): Promise<void> {
  await tx
    .updateTable('assets')
    .set({ ...changes, updated_at: sql<Date>`now()` })
    .where('id', '=', assetId)
    .execute();
}

/** Marks the asset as deleted for all users; its rows are deleted afterwards. */
export async function markDeleted(tx: Transaction, assetId: string): Promise<void> {
  await tx
    .updateTable('assets')
    .set({ deleted_at: sql<Date>`now()`, revision_id: null })
    .where('id', '=', assetId)
    .execute();
}

export async function listDeletedAssets(db: Database, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('assets')
    .select('id')
    .where('deleted_at', 'is not', null)
    .orderBy('deleted_at')
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/** Deletes at most `limit` files or revisions of an asset and returns their number. */
export async function deletePiece(
  tx: Transaction,
  table: 'asset_files' | 'revisions',
  assetId: string,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} where asset_id = ${assetId} limit ${limit}
    ))`.execute(tx);
  return Number(numAffectedRows ?? 0n);
}

export async function deleteAssetRow(tx: Transaction, assetId: string): Promise<void> {
  await tx.deleteFrom('assets').where('id', '=', assetId).execute();
}

export async function findRevision(
  db: Database | Transaction,
  assetId: string,
  revisionId: string,
): Promise<RevisionRow | undefined> {
  return db
    .selectFrom('revisions')
    .selectAll()
    .where('id', '=', revisionId)
    .where('asset_id', '=', assetId)
    .executeTakeFirst();
}

/** Returns revisions with their assets, without deleted and unreadable assets. */
export async function selectRevisions(
  db: Database | Transaction,
  { ids, userId }: { ids: string[]; userId: string },
) {
  return db
    .selectFrom('revisions')
    .innerJoin('assets', 'assets.id', 'revisions.asset_id')
    .select(['assets.id as assetId', 'assets.title', 'revisions.id as revisionId', 'revisions.number'])
    .where('revisions.id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('assets.deleted_at', 'is', null)
    .where(isReadableBy(userId))
    .execute();
}

export const fileColumns = ['path', 'sha256', 'size_bytes', 'uploaded_at'] as const;

/**
 * Selects files of a revision; all by default. `paths`: only these paths. `top`: files outside of folders,
 * plus GGUF weights in any folder. `matching`: paths that match a PostgreSQL regular expression, ignoring
 * case. `limit`: maximum number of files.
 */
export type FileChoice = {
  paths?: string[];
  top?: boolean;
  matching?: string;
  /** Only paths after this one. */
  after?: string | undefined;
  limit?: number;
};

/** Returns files of one revision in the order of their paths. */
export async function listFiles(
  db: Database | Transaction,
  { assetId, number, paths, top, matching, after, limit }: { assetId: string; number: number } & FileChoice,
): Promise<FileRow[]> {
  let query = db
    .selectFrom('asset_files')
    .select(fileColumns)
    .where('asset_id', '=', assetId)
    .where('first_number', '<=', number)
    .where((eb) => eb.or([eb('last_number', 'is', null), eb('last_number', '>=', number)]));
  if (paths !== undefined) query = query.where(sql<boolean>`path = any(${paths}::text[])`);
  // Transformers opens no files in folders; llama.cpp gets the path of its file.
  if (top) query = query.where(sql<boolean>`(strpos(path, '/') = 0 or path like '%.gguf')`);
  if (matching !== undefined) query = query.where('path', '~*', matching);
  if (after !== undefined) query = query.where('path', '>', after);
  if (limit !== undefined) query = query.limit(limit);
  return query.orderBy('path').execute();
}

/** `end` is the last number of a branch's range, or null for the main branch. */
export function newestFiles(db: Database | Transaction, assetId: string, end: number | null = null) {
  return db
    .selectFrom('asset_files')
    .where('asset_id', '=', assetId)
    .where('last_number', end === null ? 'is' : '=', end);
}

export async function listNewestFiles(db: Database | Transaction, assetId: string): Promise<FileRow[]> {
  return newestFiles(db, assetId).select(fileColumns).orderBy('path').execute();
}

export async function findNewestFile(
  db: Database | Transaction,
  assetId: string,
  path: string,
): Promise<FileRow | undefined> {
  return newestFiles(db, assetId).select(fileColumns).where('path', '=', path).executeTakeFirst();
}

export async function insertRevision(
  tx: Transaction,
  revision: {
    assetId: string;
    number: number;
    message: string;
    authorUserId: string | null;
  },
): Promise<string> {
  const { assetId, number, message, authorUserId } = revision;
  const { id } = await tx
    .insertInto('revisions')
    .values({ asset_id: assetId, number, message, author_user_id: authorUserId })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Ends the newest files with these paths at the revision `lastNumber`. Ignores paths without a file. */
export async function endFiles(
  tx: Transaction,
  assetId: string,
  { paths, lastNumber, end = null }: { paths: string[]; lastNumber: number; end?: number | null },
): Promise<{ size_bytes: bigint }[]> {
  return tx
    .updateTable('asset_files')
    .set({ last_number: lastNumber })
    .where('asset_id', '=', assetId)
    .where(sql<boolean>`path = any(${paths}::text[])`)
    .where('last_number', end === null ? 'is' : '=', end)
    .returning('size_bytes')
    .execute();
}

/** Inserts any number of files in one statement. */
export async function insertFiles(
  tx: Transaction,
  assetId: string,
  {
    files,
    firstNumber,
    end = null,
  }: {
    files: { path: string; sha256: string; sizeBytes: number }[];
    firstNumber: number;
    end?: number | null;
  },
): Promise<void> {
  await sql`
    insert into asset_files (asset_id, path, sha256, size_bytes, first_number, last_number)
    select ${assetId}, path, sha256, size_bytes, ${firstNumber}::int, ${end}::int
    from unnest(
      ${files.map((file) => file.path)}::text[],
      ${files.map((file) => file.sha256)}::text[],
      ${files.map((file) => file.sizeBytes)}::bigint[]
    ) as file (path, sha256, size_bytes)`.execute(tx);
}

/** `isLora`: whether the model is a LoRA; undefined leaves it unchanged. */
export async function setNewestRevision(
  tx: Transaction,
  assetId: string,
  change: {
    revisionId: string;
    files: number;
    bytes: bigint;
    isLora: boolean | undefined;
    /** Undefined leaves them unchanged. */
    card: CardFields | undefined;
  },
): Promise<void> {
  await tx
    .updateTable('assets')
    .set((eb) => ({
      ...(change.isLora !== undefined && { is_lora: change.isLora }),
      ...change.card,
      revision_id: change.revisionId,
      file_count: eb('file_count', '+', change.files),
      size_bytes: eb('size_bytes', '+', change.bytes),
      updated_at: sql<Date>`now()`,
    }))
    .where('id', '=', assetId)
    .execute();
}

export async function insertLineage(
  tx: Transaction,
  lineage: {
    assetId: string;
    runId: string;
    base: { assetId: string; revisionId: string; title: string };
    dataset: { assetId: string; revisionId: string; title: string };
  },
): Promise<void> {
  await tx
    .insertInto('asset_lineage')
    .values({
      asset_id: lineage.assetId,
      run_id: lineage.runId,
      base_asset_id: lineage.base.assetId,
      base_revision_id: lineage.base.revisionId,
      base_title: lineage.base.title,
      dataset_asset_id: lineage.dataset.assetId,
      dataset_revision_id: lineage.dataset.revisionId,
      dataset_title: lineage.dataset.title,
    })
    .onConflict((conflict) => conflict.column('asset_id').doNothing())
    .execute();
}

export async function findLineage(
  db: Database | Transaction,
  assetId: string,
): Promise<LineageRow | undefined> {
  return db.selectFrom('asset_lineage').selectAll().where('asset_id', '=', assetId).executeTakeFirst();
}
