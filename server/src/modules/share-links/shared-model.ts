import type { SharedModel } from '@bakehouse/contract/share-links';
import { AppError } from '../../platform/errors.ts';
import { findReadableAsset } from '../assets/access/find-readable-asset.ts';
import { getAsset } from '../assets/get-asset.ts';
import { readLineage } from '../assets/read-lineage.ts';
import { isCopiedInPublic } from '../assets/sources/sources.ts';
import type { Shared } from './find-shared.ts';
import { describeSamples } from './shared-samples.ts';
import { nameMadeFrom } from './sources.ts';

/** The run that has made a shared model; null for one that was uploaded. Throws AppError 'not_found'. */
export async function findSharedModelRun({ id, userId, ownerCtx: { db } }: Shared): Promise<string | null> {
  const asset = await findReadableAsset(db, { assetId: id, userId });
  // Access to it is granted, since it was restricted.
  if (asset.is_restricted) throw new AppError('not_found', { publicMessage: 'Asset not found' });
  return (await readLineage(db, { assetId: id }))?.runId ?? null;
}

/** What a link shows of a model. */
export async function describeModel(shared: Shared): Promise<SharedModel> {
  const { ownerCtx, id, maker } = shared;
  const runId = await findSharedModelRun(shared);
  const asset = await getAsset(ownerCtx, { assetId: id });
  const { title, details, card, card_metadata, file_count, size_bytes, created_at, lineage } = asset;
  const source = (await isCopiedInPublic(ownerCtx.db, id)) ? asset.source : null;
  return {
    kind: 'model',
    ...{ title, maker, details, card, card_metadata, source, file_count, size_bytes, created_at },
    model_id: asset.is_published ? id : null,
    made_from:
      lineage && (await nameMadeFrom(ownerCtx, { base: lineage.base_model, dataset: lineage.dataset })),
    samples: runId === null ? null : await describeSamples(shared, runId),
  };
}
