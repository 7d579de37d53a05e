import { text } from 'node:stream/consumers';
import {
  type Asset,
  type createAsset as createAssetEndpoint,
  FIRST_FILES_MAX,
  type listAssets as listAssetsEndpoint,
  type updateAsset as updateAssetEndpoint,
} from '@bakehouse/contract/assets';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { MODEL_NAME_LENGTH_MIN, type uploadBaseModelTypes } from '@bakehouse/contract/limits';
import { sql } from 'kysely';
import type { Context, Services } from '../../platform/context.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { idempotent } from '../../platform/db/idempotency/idempotent.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { readSnapshot } from '../../platform/db/read-snapshot.ts';
import { AppError, conflict, invalidParam } from '../../platform/errors.ts';
import { publishChange, publishChanges } from '../../platform/events/publish-change.ts';
import { readBlob } from '../../platform/storage/read-blob.ts';
import { completeOnboardingStep } from '../accounts/onboarding.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { lockChangeableAsset } from './access/changeable.ts';
import { findReadableAsset } from './access/find-readable-asset.ts';
import type { Way } from './access/readable.ts';
import { selectReadableIds } from './access/select-readable-ids.ts';
import { findCardData } from './card/card-data.ts';
import { toCardMetadata } from './card/card-metadata.ts';
import { listFilesPage } from './files/files.ts';
import { insertAsset } from './insert-asset.ts';
import { readLineage } from './lineage.ts';
import {
  type AssetRow,
  CARD_PATH,
  type FileRow,
  findNewestFile,
  selectTitles,
  updateAssetRow,
} from './queries.ts';
import { findPipelines } from './recognise/pipelines.ts';
import { repositoryId } from './repositories/namespace.ts';
import { readPage } from './search/read-page.ts';
import { findSource } from './sources/sources.ts';
import { toSummary } from './to-wire.ts';

const families: Record<(typeof uploadBaseModelTypes)[number], string> = { llama3: 'llama', qwen: 'qwen' };
const CARD_BYTES_MAX = 512 * 1024;

/**
 * Creates an empty dataset or model of the caller and returns its id. Titles may repeat: ids identify assets,
 * and a repeated fine-tune must not fail because of its name.
 */
export async function createAsset(
  ctx: Context,
  payload: InputOf<typeof createAssetEndpoint>['body'],
): Promise<string> {
  const { userId } = ctx.caller;
  const { id } = await inTransaction(ctx.db, (tx) =>
    idempotent(
      tx,
      { userId, key: ctx.idempotencyKey, operation: 'create-asset', input: payload },
      async () => {
        const parentAssetId = payload.parent_dataset_id || null;
        if (parentAssetId)
          await findReadableAsset(tx, { assetId: parentAssetId, userId, param: 'parent_dataset_id' });
        const assetId = await insertAsset(tx, {
          ownerUserId: userId,
          datasetType: payload.dataset_type,
          title: payload.title,
          category: payload.category,
          details: payload.details,
          tags: payload.tags,
          priceMicro: payload.price,
          embeddingModel: payload.embedding_model,
          dimensions: payload.dimensions,
          isPublished: payload.is_published,
          useIpfs: payload.use_ipfs,
          baseModelType: payload.base_model_type ?? null,
          family: payload.base_model_type ? families[payload.base_model_type] : '',
          parentAssetId,
        });
        await completeOnboardingStep(
          tx,
          userId,
          payload.dataset_type === 'RAW' ? 'create_dataset' : 'create_model',
        );
        return { id: assetId };
      },
    ),
  );
  return id;
}

/** Returns a dataset or model with its first files, its card and its lineage. */
export async function getAsset(ctx: Context, input: { assetId: string }): Promise<Asset> {
  const { userId } = ctx.caller;
  // Read in one snapshot, so that an upload cannot change the files between the queries.
  const { asset, readme, page } = await readSnapshot(ctx.db, async (tx) => {
    const found = await findReadableAsset(tx, { assetId: input.assetId, userId });
    const below = { assetId: found.id, path: '', limit: FIRST_FILES_MAX };
    return {
      asset: found,
      readme: await findNewestFile(tx, found.id, CARD_PATH),
      page: await listFilesPage(tx, below),
    };
  });
  const [[shown = asset], card, cardData, lineage, pipelines, source] = await Promise.all([
    hideParents(ctx.db, { rows: [asset], userId }),
    readText(ctx, readme),
    findCardData(ctx, readme),
    findLineage(ctx, asset),
    findPipelines(ctx, [asset.id]),
    findSource(ctx.db, asset.id),
  ]);
  return {
    ...toSummary(shown, pipelines.get(asset.id)),
    files: page.files,
    next_files_cursor: page.nextCursor,
    card,
    card_metadata: toCardMetadata(cardData),
    repo_id: repositoryId(asset),
    lineage,
    downloads: Number(asset.downloads),
    source: source && { hub_url: source.hubUrl, repo_id: source.repoId, revision: source.commitId },
  };
}

async function readText(services: Services, card: FileRow | undefined): Promise<string | null> {
  if (!card || card.size_bytes === 0n) return null;
  const range = { start: 0, end: Math.min(Number(card.size_bytes), CARD_BYTES_MAX) - 1 };
  try {
    return await text(await readBlob(services, { sha256: card.sha256, path: card.path, range }));
  } catch (error) {
    // Show the page without the card, so that the user can upload the file again.
    if (error instanceof AppError) return null;
    throw error;
  }
}

/** Returns an asset's lineage. The owner sees all sources, other users only sources that they may read. */
async function findLineage({ db, caller }: Context, asset: AssetRow): Promise<Asset['lineage']> {
  const lineage = await readLineage(db, { assetId: asset.id });
  if (!lineage) return null;
  const sources = [lineage.baseModel, lineage.dataset];
  const { userId } = caller;
  const readable = await selectReadableIds(db, { ids: sources.map(({ assetId }) => assetId), userId });
  const [base_model = null, dataset = null] = sources.map(({ assetId, revisionId, title }) =>
    asset.owner_user_id === userId || readable.has(assetId)
      ? { dataset_id: assetId, revision_id: revisionId, title }
      : null,
  );
  return { run_id: lineage.runId, base_model, dataset };
}

type Query = InputOf<typeof listAssetsEndpoint>['query'];

/**
 * Lists the caller's datasets, models or indexes, other users' assets that the caller may read, and the
 * starter models, as requested.
 */
export async function listAssets(ctx: Context, query: Query): Promise<ResponseOf<typeof listAssetsEndpoint>> {
  const { userId } = ctx.caller;
  const { rows, nextCursor } = await readPage(ctx.db, {
    userId,
    type: query.types ?? null,
    whose: waysOf(query),
    search: query.search,
    tags: query.tag ? [query.tag] : [],
    sort: query.sort,
    cursor: query.cursor,
    limit: query.limit,
  });
  const pipelines = query.include_pipelines
    ? await findPipelines(
        ctx,
        rows.map(({ id }) => id),
      )
    : null;
  const shown = await hideParents(ctx.db, { rows, userId });
  return {
    datasets: shown.map((row) => toSummary(row, pipelines?.get(row.id))),
    next_cursor: nextCursor,
  };
}

/** Restricted models granted to the user are listed with the starter models: forms offer both together. */
function waysOf({ whose, include_starter: withStarter }: Pick<Query, 'whose' | 'include_starter'>): Way[] {
  const everybodys: Way[] = withStarter ? ['starter', 'granted'] : [];
  return whose === 'all' ? ['own', 'shared', 'published', ...everybodys] : [whose, ...everybodys];
}

/** Returns the titles of datasets and models by their ids. Omits deleted assets. */
export async function findTitles(db: Database, ids: string[]): Promise<Map<string, string>> {
  const rows = await selectTitles(db, ids);
  return new Map(rows.map(({ id, title }) => [id, title]));
}

/** Step: notifies the owners of these assets of a change. */
export async function announceAssets(tx: Transaction, assetIds: string[]): Promise<void> {
  const rows = await tx
    .selectFrom('assets')
    .select(['id', 'owner_user_id'])
    .where('id', '=', sql<string>`any(${assetIds}::uuid[])`)
    .where('owner_user_id', 'is not', null)
    .execute();
  await publishChanges(
    tx,
    rows.map(({ id, owner_user_id: userId }) => ({ userId, event: { topic: 'asset', id } })),
  );
}

/** Changes an asset's description; absent fields stay unchanged. */
export async function updateAsset(
  ctx: Context,
  input: { assetId: string; changes: InputOf<typeof updateAssetEndpoint>['body'] },
): Promise<Asset> {
  const { assetId } = input;
  const { price, user_id: _, ...words } = input.changes;
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    const asset = await lockChangeableAsset(tx, { assetId, userId });
    if (
      asset.dataset_type === 'MODEL' &&
      words.title !== undefined &&
      words.title.length < MODEL_NAME_LENGTH_MIN
    ) {
      throw invalidParam('title', `Model name must have at least ${MODEL_NAME_LENGTH_MIN} characters`);
    }
    const isPublished = words.is_published ?? asset.is_published;
    const isMoved = isPublished !== asset.is_published;
    if (isMoved && isPublished) assertNotRestricted(asset);
    // A trigger queues the CID and its pins when `use_ipfs` is set: `server/migrations/functions/ipfs.sql`.
    await updateAssetRow(tx, assetId, { ...words, price_micro: price });
    const action = isPublished ? 'asset.published' : 'asset.unpublished';
    if (isMoved) await recordAudit(tx, { userId, action, detail: { asset_id: assetId } });
    if (!isMoved || Object.keys(input.changes).some((key) => !['is_published', 'user_id'].includes(key)))
      await recordAudit(tx, { userId, action: 'asset.changed', detail: { asset_id: assetId } });
    await publishChange(tx, userId, { topic: 'asset', id: assetId });
  });
  return getAsset(ctx, { assetId });
}

/** Publishing a restricted model would let users without a grant read it. */
function assertNotRestricted({ title, is_restricted: isRestricted }: AssetRow): void {
  if (!isRestricted) return;
  throw conflict(
    `${title} is a restricted model: access to it is granted one by one. Remove the restriction to publish it`,
    { param: 'is_published' },
  );
}

/** Clears the parent in rows of other users if the user may not read it. */
export async function hideParents(
  db: Database | Transaction,
  { rows, userId }: { rows: AssetRow[]; userId: string },
): Promise<AssetRow[]> {
  const foreign = rows.filter(({ owner_user_id: owner }) => owner !== userId);
  const ids = [...new Set(foreign.flatMap(({ parent_asset_id: id }) => id ?? []))];
  if (ids.length === 0) return rows;
  const readable = await selectReadableIds(db, { ids, userId });
  const isShown = (row: AssetRow, id: string) => row.owner_user_id === userId || readable.has(id);
  return rows.map((row) => {
    const id = row.parent_asset_id;
    return id === null || isShown(row, id) ? row : { ...row, parent_asset_id: null };
  });
}
