import { text } from 'node:stream/consumers';
import { type Asset, FIRST_FILES_MAX } from '@bakehouse/contract/assets';
import type { Context, Services } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { readBlob } from '../../platform/storage/read-blob.ts';
import { findReadableAsset } from './access/find-readable-asset.ts';
import { readCardMetadata } from './card/card-metadata.ts';
import { listFilesPage } from './files/list-files-page.ts';
import { type AssetRow, CARD_PATH, findNewestFile } from './queries.ts';
import { readLineage } from './read-lineage.ts';
import { findPipelines } from './recognise/find-pipelines.ts';
import { repositoryId } from './repositories/namespace.ts';
import { findSource } from './sources/sources.ts';
import { toSummary } from './to-wire.ts';

const CARD_BYTES_MAX = 512 * 1024;

/** A dataset or model with its first files, its card and what it was made from. */
export async function getAsset(ctx: Context, input: { assetId: string }): Promise<Asset> {
  const asset = await findReadableAsset(ctx.db, { assetId: input.assetId, userId: ctx.caller.userId });
  return describeAsset(ctx, asset);
}

/** The same for an asset that was just read. */
export async function describeAsset(services: Services, asset: AssetRow): Promise<Asset> {
  const [{ files, nextCursor }, card, lineage, pipelines, source] = await Promise.all([
    listFilesPage(services.db, { assetId: asset.id, path: '', limit: FIRST_FILES_MAX }),
    readCard(services, asset.id),
    readLineage(services.db, { assetId: asset.id }),
    findPipelines(services, [asset.id]),
    findSource(services.db, asset.id),
  ]);
  return {
    ...toSummary(asset, pipelines.get(asset.id)),
    files,
    next_files_cursor: nextCursor,
    card,
    card_metadata: readCardMetadata(card),
    repo_id: repositoryId(asset),
    lineage: lineage ? toWireLineage(lineage) : null,
    downloads: Number(asset.downloads),
    source: source && { hub_url: source.hubUrl, repo_id: source.repoId, revision: source.commitId },
  };
}

async function readCard(services: Services, assetId: string): Promise<string | null> {
  const card = await findNewestFile(services.db, assetId, CARD_PATH);
  if (!card) return null;
  const range = { start: 0, end: Math.min(Number(card.size_bytes), CARD_BYTES_MAX) - 1 };
  try {
    return await text(await readBlob(services, { sha256: card.sha256, path: card.path, range }));
  } catch (error) {
    // The rest of the page is there to upload the file again.
    if (error instanceof AppError) return null;
    throw error;
  }
}

function toWireLineage({
  runId,
  baseModel,
  dataset,
}: NonNullable<Awaited<ReturnType<typeof readLineage>>>): Asset['lineage'] {
  const toWire = (source: typeof baseModel) => ({
    dataset_id: source.assetId,
    revision_id: source.revisionId,
    title: source.title,
  });
  return { run_id: runId, base_model: toWire(baseModel), dataset: toWire(dataset) };
}
