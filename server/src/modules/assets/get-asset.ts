import { text } from 'node:stream/consumers';
import { type Asset, FIRST_FILES_MAX } from '@bakehouse/contract/assets';
import type { Context, Services } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { readBlob } from '../../platform/storage/read-blob.ts';
import { findReadableAsset } from './access/find-readable-asset.ts';
import { hideParents } from './access/hide-parents.ts';
import { selectReadableIds } from './access/select-readable-ids.ts';
import { findCardData } from './card/card-data.ts';
import { toCardMetadata } from './card/card-metadata.ts';
import { listFilesPage } from './files/list-files-page.ts';
import { type AssetRow, CARD_PATH, type FileRow, findNewestFile } from './queries.ts';
import { readLineage } from './read-lineage.ts';
import { findPipelines } from './recognise/find-pipelines.ts';
import { repositoryId } from './repositories/namespace.ts';
import { findSource } from './sources/sources.ts';
import { toSummary } from './to-wire.ts';

const CARD_BYTES_MAX = 512 * 1024;

/** Returns a dataset or model with its first files, its card and its lineage. */
export async function getAsset(ctx: Context, input: { assetId: string }): Promise<Asset> {
  const { userId } = ctx.caller;
  const asset = await findReadableAsset(ctx.db, { assetId: input.assetId, userId });
  const readme = await findNewestFile(ctx.db, asset.id, CARD_PATH);
  const [[shown = asset], { files, nextCursor }, card, cardData, lineage, pipelines, source] =
    await Promise.all([
      hideParents(ctx.db, { rows: [asset], userId }),
      listFilesPage(ctx.db, { assetId: asset.id, path: '', limit: FIRST_FILES_MAX }),
      readText(ctx, readme),
      findCardData(ctx, readme),
      findLineage(ctx, asset),
      findPipelines(ctx, [asset.id]),
      findSource(ctx.db, asset.id),
    ]);
  return {
    ...toSummary(shown, pipelines.get(asset.id)),
    files,
    next_files_cursor: nextCursor,
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
    // Show the rest of the page, so that the user can upload the file again.
    if (error instanceof AppError) return null;
    throw error;
  }
}

/** Returns an asset's lineage. Readers see only readable sources; the owner sees all. */
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
