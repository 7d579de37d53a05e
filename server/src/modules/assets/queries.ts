import type { DatasetType } from '@bakehouse/contract/assets';
import { type Selectable, sql, type Updateable } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { DB } from '../../platform/db/schema.generated.ts';

export type AssetRow = Selectable<DB['assets']> & { owner_username: string | null };
export type RevisionRow = Selectable<DB['revisions']>;
export type FileRow = Pick<Selectable<DB['asset_files']>, 'path' | 'sha256' | 'size_bytes' | 'uploaded_at'>;
export type LineageRow = Selectable<DB['asset_lineage']>;

function assets(db: Database | Transaction) {
  return db
    .selectFrom('assets')
    .leftJoin('users', 'users.id', 'assets.owner_user_id')
    .where('assets.deleted_at', 'is', null)
    .selectAll('assets')
    .select('users.username as owner_username');
}

export async function findAsset(db: Database | Transaction, assetId: string): Promise<AssetRow | undefined> {
  return assets(db).where('assets.id', '=', assetId).executeTakeFirst();
}

/** Holds the asset until the transaction ends: changes to one asset follow one another. */
export async function lockAsset(tx: Transaction, assetId: string): Promise<void> {
  await tx.selectFrom('assets').select('id').where('id', '=', assetId).forUpdate().execute();
}

export type SortKey = 'updated' | 'title' | 'size';
export type ListCursor = { value: string; id: string };

/** Each order with the id as its second key, so that a cursor names one place. */
const orders = {
  updated: { key: sql`assets.updated_at`, type: sql`timestamptz`, direction: sql`desc`, after: sql`<` },
  title: { key: sql`lower(assets.title)`, type: sql`text`, direction: sql`asc`, after: sql`>` },
  size: { key: sql`assets.size_bytes`, type: sql`bigint`, direction: sql`desc`, after: sql`<` },
};

type ListFilter = {
  userId: string;
  type: DatasetType;
  includeStarter: boolean;
  search: string;
  sort: SortKey;
  cursor: ListCursor | null;
  limit: number;
};

/** One page. Each owner's rows are read in the order of an index, and only as many as the page has. */
export async function listAssets(
  db: Database,
  filter: ListFilter,
): Promise<(AssetRow & { sort_value: string })[]> {
  const { direction } = orders[filter.sort];
  const own = pageOf(db, filter, filter.userId);
  return db
    .selectFrom((filter.includeStarter ? own.unionAll(pageOf(db, filter, null)) : own).as('page'))
    .selectAll()
    .orderBy(sql`sort_key ${direction}, id ${direction}`)
    .limit(filter.limit)
    .execute();
}

/** The page if there were only the assets of this owner; null: the starter models, which have none. */
function pageOf(db: Database, { type, search, sort, cursor, limit }: ListFilter, owner: string | null) {
  const { key, type: keyType, direction, after } = orders[sort];
  let query = assets(db)
    .select([sql`${key}`.as('sort_key'), sql<string>`${key}::text`.as('sort_value')])
    .where('assets.dataset_type', '=', type)
    .where('assets.owner_user_id', owner === null ? 'is' : '=', owner);
  if (search !== '') {
    const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
    query = query.where(sql<boolean>`(assets.title ilike ${pattern} or assets.id::text ilike ${pattern}
      or assets.base_model_type ilike ${pattern}
      or exists (select from unnest(assets.tags) as tag where tag ilike ${pattern}))`);
  }
  if (cursor) {
    query = query.where(
      sql<boolean>`(${key}, assets.id) ${after} (${cursor.value}::${keyType}, ${cursor.id}::uuid)`,
    );
  }
  return db
    .selectFrom(query.orderBy(sql`${key} ${direction}, assets.id ${direction}`).limit(limit).as('own'))
    .selectAll();
}

export type NewAsset = {
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
  baseModelType?: string | null;
  parentAssetId?: string | null;
};

export async function insertAsset(tx: Transaction, asset: NewAsset): Promise<string> {
  const { id } = await tx
    .insertInto('assets')
    .values({
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
      base_model_type: asset.baseModelType,
      parent_asset_id: asset.parentAssetId,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Makes the row of a starter model, or brings its words up to date. Locks it. */
export async function upsertStarterAsset(
  tx: Transaction,
  starter: { slug: string; title: string; details: string; category: string; tags: string[] },
): Promise<string> {
  const words = {
    title: starter.title,
    details: starter.details,
    category: starter.category,
    tags: starter.tags,
  };
  const { id } = await tx
    .insertInto('assets')
    .values({ ...words, starter_slug: starter.slug, is_starter: true, dataset_type: 'MODEL' })
    .onConflict((conflict) => conflict.column('starter_slug').doUpdateSet(words))
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function listStarterRows(
  db: Database | Transaction,
): Promise<{ id: string; slug: string; title: string; created_at: Date }[]> {
  return db
    .selectFrom('assets')
    .select(['id', 'starter_slug as slug', 'title', 'created_at'])
    .where('starter_slug', 'is not', null)
    .where('revision_id', 'is not', null)
    .orderBy('created_at')
    .$narrowType<{ slug: string }>()
    .execute();
}

export async function updateAssetRow(
  tx: Transaction,
  assetId: string,
  changes: Updateable<
    Pick<DB['assets'], 'title' | 'details' | 'category' | 'tags' | 'price_micro' | 'is_published'>
  >,
): Promise<void> {
  await tx
    .updateTable('assets')
    .set({ ...changes, updated_at: sql<Date>`now()` })
    .where('id', '=', assetId)
    .execute();
}

/** From here on the asset is gone for everybody; its rows are deleted afterwards. */
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

/** Deletes at most `limit` files or revisions of an asset and answers how many. */
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

const fileColumns = ['path', 'sha256', 'size_bytes', 'uploaded_at'] as const;

/** The files of one revision, in the order of their paths; with a path only that one. */
export async function listFiles(
  db: Database | Transaction,
  assetId: string,
  revisionNumber: number,
  path?: string,
): Promise<FileRow[]> {
  let query = db
    .selectFrom('asset_files')
    .select(fileColumns)
    .where('asset_id', '=', assetId)
    .where('first_number', '<=', revisionNumber)
    .where((eb) => eb.or([eb('last_number', 'is', null), eb('last_number', '>=', revisionNumber)]));
  if (path !== undefined) query = query.where('path', '=', path);
  return query.orderBy('path').execute();
}

function newestFiles(db: Database | Transaction, assetId: string) {
  return db.selectFrom('asset_files').where('asset_id', '=', assetId).where('last_number', 'is', null);
}

export async function listNewestFiles(db: Database | Transaction, assetId: string): Promise<FileRow[]> {
  return newestFiles(db, assetId).select(fileColumns).orderBy('path').execute();
}

/** Files of the newest revision behind `after` in the order of their paths: the one of this path, or those below it. */
export async function listFilesBelow(
  db: Database,
  assetId: string,
  { path, after, limit }: { path: string; after: string | null; limit: number },
): Promise<FileRow[]> {
  let query = newestFiles(db, assetId).select(fileColumns).where(isBelow(path));
  if (after !== null) query = query.where('path', '>', after);
  return query.orderBy('path').limit(limit).execute();
}

/** How many files there are below a path in all, and their bytes. */
export async function countFilesBelow(
  db: Database,
  assetId: string,
  path: string,
): Promise<{ count: number; bytes: number }> {
  const { count, bytes } = await newestFiles(db, assetId)
    .select([
      sql<bigint>`count(*)`.as('count'),
      sql<bigint>`coalesce(sum(size_bytes), 0)::bigint`.as('bytes'),
    ])
    .where(isBelow(path))
    .executeTakeFirstOrThrow();
  return { count: Number(count), bytes: Number(bytes) };
}

/** An empty path is above all others. */
function isBelow(path: string) {
  return path === ''
    ? sql<boolean>`true`
    : sql<boolean>`(path = ${path} or starts_with(path, ${`${path}/`}))`;
}

export async function findNewestFile(
  db: Database | Transaction,
  assetId: string,
  path: string,
): Promise<FileRow | undefined> {
  return newestFiles(db, assetId).select(fileColumns).where('path', '=', path).executeTakeFirst();
}

export async function insertRevision(tx: Transaction, assetId: string, number: number): Promise<string> {
  const { id } = await tx
    .insertInto('revisions')
    .values({ asset_id: assetId, number })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Ends the newest files of these paths with the revision `lastNumber`; paths without a file are left out. */
export async function endFiles(
  tx: Transaction,
  assetId: string,
  paths: string[],
  lastNumber: number,
): Promise<{ size_bytes: bigint }[]> {
  return tx
    .updateTable('asset_files')
    .set({ last_number: lastNumber })
    .where('asset_id', '=', assetId)
    .where(sql<boolean>`path = any(${paths}::text[])`)
    .where('last_number', 'is', null)
    .returning('size_bytes')
    .execute();
}

/** Any number of files in one statement. */
export async function insertFiles(
  tx: Transaction,
  assetId: string,
  files: { path: string; sha256: string; sizeBytes: number }[],
  firstNumber: number,
): Promise<void> {
  await sql`
    insert into asset_files (asset_id, path, sha256, size_bytes, first_number)
    select ${assetId}, path, sha256, size_bytes, ${firstNumber}
    from unnest(
      ${files.map((file) => file.path)}::text[],
      ${files.map((file) => file.sha256)}::text[],
      ${files.map((file) => file.sizeBytes)}::bigint[]
    ) as file (path, sha256, size_bytes)`.execute(tx);
}

export async function setNewestRevision(
  tx: Transaction,
  assetId: string,
  change: { revisionId: string; files: number; bytes: bigint },
): Promise<void> {
  await tx
    .updateTable('assets')
    .set((eb) => ({
      revision_id: change.revisionId,
      file_count: eb('file_count', '+', change.files),
      size_bytes: eb('size_bytes', '+', change.bytes),
      updated_at: sql<Date>`now()`,
    }))
    .where('id', '=', assetId)
    .execute();
}

/** Bytes that the revisions of a user's assets keep in the store; what several of them have counts once. */
export async function findStoredBytes(db: Database, userId: string): Promise<bigint> {
  const row = await db
    .selectFrom('user_storage')
    .select('bytes')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.bytes ?? 0n;
}

/** The same, held until the transaction ends: what one user stores changes in one transaction at a time. */
export async function lockStoredBytes(tx: Transaction, userId: string): Promise<bigint> {
  const { bytes } = await tx
    .insertInto('user_storage')
    .values({ user_id: userId })
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet((eb) => ({ bytes: eb.ref('user_storage.bytes') })),
    )
    .returning('bytes')
    .executeTakeFirstOrThrow();
  return bytes;
}

export async function ownsBlob(tx: Transaction, userId: string, sha256: string): Promise<boolean> {
  const row = await tx
    .selectFrom('user_blobs')
    .select('files')
    .where('user_id', '=', userId)
    .where('sha256', '=', sha256)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether the store holds the blob, good as far as is known, and a revision keeps it there. */
export async function isBlobKept(db: Database, sha256: string): Promise<boolean> {
  const row = await db
    .selectFrom('asset_files')
    .innerJoin('blobs', 'blobs.sha256', 'asset_files.sha256')
    .select('asset_files.path')
    .where('blobs.sha256', '=', sha256)
    .where('blobs.damaged_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Blobs without a file that nobody has wanted since `before`. */
export async function listUnusedBlobs(db: Database, before: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('blobs')
    .select('sha256')
    .where('touched_at', '<', before)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb.selectFrom('asset_files').select('path').whereRef('asset_files.sha256', '=', 'blobs.sha256'),
        ),
      ),
    )
    .orderBy('touched_at')
    .limit(limit)
    .execute();
  return rows.map((row) => row.sha256);
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

/** Models that were fine-tuned from this one: the first titles, and how many they are. */
export async function listFineTunes(
  tx: Transaction,
  baseAssetId: string,
  limit: number,
): Promise<{ titles: string[]; count: number }> {
  const rows = await tx
    .selectFrom('asset_lineage')
    .innerJoin('assets', 'assets.id', 'asset_lineage.asset_id')
    .select(['assets.title', sql<bigint>`count(*) over ()`.as('count')])
    .where('asset_lineage.base_asset_id', '=', baseAssetId)
    .where('assets.deleted_at', 'is', null)
    .orderBy('assets.created_at')
    .limit(limit)
    .execute();
  return { titles: rows.map((row) => row.title), count: Number(rows[0]?.count ?? 0n) };
}
