import type { DatasetType } from '@bakehouse/contract/assets';
import { type Selectable, sql } from 'kysely';
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

export async function listAssets(
  db: Database,
  filter: {
    userId: string;
    type: DatasetType;
    includeStarter: boolean;
    search: string;
    sort: SortKey;
    cursor: ListCursor | null;
    limit: number;
  },
): Promise<(AssetRow & { sort_value: string })[]> {
  const { key, type, direction, after } = orders[filter.sort];
  const { cursor, search } = filter;
  let query = assets(db)
    .select(sql<string>`${key}::text`.as('sort_value'))
    .where('assets.dataset_type', '=', filter.type)
    .where((eb) =>
      filter.includeStarter
        ? eb.or([eb('assets.owner_user_id', '=', filter.userId), eb('assets.is_starter', '=', true)])
        : eb('assets.owner_user_id', '=', filter.userId),
    );
  if (search !== '') {
    const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
    query = query.where(sql<boolean>`(assets.title ilike ${pattern} or assets.id::text ilike ${pattern}
      or assets.base_model_type ilike ${pattern}
      or exists (select from unnest(assets.tags) as tag where tag ilike ${pattern}))`);
  }
  if (cursor) {
    query = query.where(
      sql<boolean>`(${key}, assets.id) ${after} (${cursor.value}::${type}, ${cursor.id}::uuid)`,
    );
  }
  return query.orderBy(sql`${key} ${direction}, assets.id ${direction}`).limit(filter.limit).execute();
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

export async function updateAssetWords(
  tx: Transaction,
  assetId: string,
  words: { title?: string; details?: string; category?: string; tags?: string[] },
): Promise<void> {
  await tx
    .updateTable('assets')
    .set({ ...words, updated_at: sql<Date>`now()` })
    .where('id', '=', assetId)
    .execute();
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

/** The files of one revision, in the order of their paths. */
export async function listFiles(
  db: Database | Transaction,
  assetId: string,
  revisionNumber: number,
): Promise<FileRow[]> {
  return db
    .selectFrom('asset_files')
    .select(['path', 'sha256', 'size_bytes', 'uploaded_at'])
    .where('asset_id', '=', assetId)
    .where('first_number', '<=', revisionNumber)
    .where((eb) => eb.or([eb('last_number', 'is', null), eb('last_number', '>=', revisionNumber)]))
    .orderBy('path')
    .execute();
}

export async function listNewestFiles(db: Database | Transaction, assetId: string): Promise<FileRow[]> {
  return db
    .selectFrom('asset_files')
    .select(['path', 'sha256', 'size_bytes', 'uploaded_at'])
    .where('asset_id', '=', assetId)
    .where('last_number', 'is', null)
    .orderBy('path')
    .execute();
}

export async function findNewestFile(
  db: Database | Transaction,
  assetId: string,
  path: string,
): Promise<FileRow | undefined> {
  return db
    .selectFrom('asset_files')
    .select(['path', 'sha256', 'size_bytes', 'uploaded_at'])
    .where('asset_id', '=', assetId)
    .where('path', '=', path)
    .where('last_number', 'is', null)
    .executeTakeFirst();
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
export async function sumStoredBytes(db: Database | Transaction, userId: string): Promise<bigint> {
  const { rows } = await sql<{ bytes: bigint }>`
    select coalesce(sum(size_bytes), 0)::bigint as bytes from (
      select distinct f.sha256, f.size_bytes from asset_files f
      join assets a on a.id = f.asset_id where a.owner_user_id = ${userId}
    ) as stored`.execute(db);
  return rows[0]?.bytes ?? 0n;
}

export async function ownsBlob(tx: Transaction, userId: string, sha256: string): Promise<boolean> {
  const row = await tx
    .selectFrom('asset_files')
    .innerJoin('assets', 'assets.id', 'asset_files.asset_id')
    .select('asset_files.path')
    .where('asset_files.sha256', '=', sha256)
    .where('assets.owner_user_id', '=', userId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Makes uploads of one user follow one another until the transaction ends. */
export async function lockStorage(tx: Transaction, userId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`storage ${userId}`}, 0))`.execute(tx);
}

/** Whether a revision refers to the blob, so that it stays in the store. */
export async function isBlobInUse(db: Database, sha256: string): Promise<boolean> {
  const row = await db
    .selectFrom('asset_files')
    .select('path')
    .where('sha256', '=', sha256)
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
