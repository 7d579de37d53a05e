import type { DatasetType } from '@bakehouse/contract/assets';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { conflict, notFoundError } from '../../../platform/errors.ts';
import { findRevision, type StarterTask } from '../queries.ts';
import { findReadableAsset } from './find-readable-asset.ts';

export type ReadableRevision = {
  asset: {
    id: string;
    /** Null for starter models. */
    ownerUserId: string | null;
    isStarter: boolean;
    /** Identifies a starter model across servers. */
    starterSlug: string | null;
    /** The task of a starter model; null for other assets. */
    starterTask: StarterTask | null;
    datasetType: DatasetType;
    title: string;
    tags: string[];
    baseModelType: string | null;
    family: string;
    parentAssetId: string | null;
  };
  revision: { id: string; number: number; createdAt: Date };
};

export type WantedRevision = { assetId: string; revisionId?: string; userId: string; param?: string };

/**
 * Returns a revision of an asset, by default the newest, after checking read access. Throws AppError
 * 'not_found' without access, and 'conflict' if it has no files yet, both with the field `param`.
 */
export async function requireRevision(
  tx: Database | Transaction,
  input: WantedRevision,
): Promise<ReadableRevision> {
  const asset = await findReadableAsset(tx, input);
  const revisionId = input.revisionId ?? asset.revision_id;
  if (!revisionId) throw conflict(`${asset.title} has no files yet`, { param: input.param });
  const revision = await findRevision(tx, asset.id, revisionId);
  if (!revision) throw notFoundError('There is no such version');
  return {
    asset: {
      id: asset.id,
      ownerUserId: asset.owner_user_id,
      isStarter: asset.starter_task !== null,
      starterSlug: asset.starter_slug,
      starterTask: asset.starter_task as StarterTask | null,
      datasetType: asset.dataset_type as DatasetType,
      title: asset.title,
      tags: asset.tags,
      baseModelType: asset.base_model_type,
      family: asset.family,
      parentAssetId: asset.parent_asset_id,
    },
    revision: { id: revision.id, number: revision.number, createdAt: revision.created_at },
  };
}
