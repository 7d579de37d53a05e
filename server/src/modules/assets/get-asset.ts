import { text } from 'node:stream/consumers';
import type { Asset } from '@bakehouse/contract/assets';
import type { Context, Services } from '../../platform/context.ts';
import { findReadableAsset } from './find-asset.ts';
import { type AssetRow, type FileRow, listNewestFiles } from './queries.ts';
import { readLineage } from './read-lineage.ts';
import { toSummary, toWireFile } from './to-wire.ts';

const CARD_PATH = 'README.md';
const CARD_BYTES_MAX = 512 * 1024;

/** A dataset or model with its files, its card and what it was made from. */
export async function getAsset(ctx: Context, input: { assetId: string }): Promise<Asset> {
  const asset = await findReadableAsset(ctx.db, { assetId: input.assetId, userId: ctx.caller.userId });
  return describeAsset(ctx, asset);
}

/** The same for an asset that was just read. */
export async function describeAsset(services: Services, asset: AssetRow): Promise<Asset> {
  const [files, lineage] = await Promise.all([
    listNewestFiles(services.db, asset.id),
    readLineage(services.db, { assetId: asset.id }),
  ]);
  return {
    ...toSummary(asset),
    files: files.map(toWireFile),
    card: await readCard(services, files),
    lineage: lineage ? toWireLineage(lineage) : null,
  };
}

async function readCard(services: Services, files: FileRow[]): Promise<string | null> {
  const card = files.find((file) => file.path === CARD_PATH);
  if (!card) return null;
  return text(await services.blobs.read(card.sha256, { start: 0, end: CARD_BYTES_MAX - 1 }));
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
