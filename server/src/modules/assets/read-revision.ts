import type { DatasetType } from '@bakehouse/contract/assets';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { findReadableAsset } from './access/find-readable-asset.ts';
import { findRevision, listFiles, type StarterTask } from './queries.ts';

export type AssetRevision = {
  asset: {
    id: string;
    /** Null for starter models. */
    ownerUserId: string | null;
    isStarter: boolean;
    /** Names a starter model across servers. */
    starterSlug: string | null;
    /** What a starter model makes; null for every other asset. */
    starterTask: StarterTask | null;
    datasetType: DatasetType;
    title: string;
    tags: string[];
    baseModelType: string | null;
    family: string;
    parentAssetId: string | null;
  };
  revision: { id: string; number: number; createdAt: Date };
  files: { path: string; sha256: string; sizeBytes: number }[];
};

/**
 * One revision of an asset with its files, the newest unless said, for work that uses exactly
 * that. With `path` only that file is listed, if it is there: an asset may have very many. Throws AppError('not_found') unless the user may read it, and 'conflict' when it has no
 * files yet, both with the field `param` that names it.
 */
export async function readRevision(
  tx: Database | Transaction,
  input: { assetId: string; revisionId?: string; userId: string; path?: string; param?: string },
): Promise<AssetRevision> {
  const asset = await findReadableAsset(tx, input);
  const revisionId = input.revisionId ?? asset.revision_id;
  if (!revisionId)
    throw new AppError('conflict', { publicMessage: `${asset.title} has no files yet`, param: input.param });
  const revision = await findRevision(tx, asset.id, revisionId);
  if (!revision) throw new AppError('not_found', { publicMessage: 'This asset has no such revision' });
  const files = await listFiles(tx, asset.id, revision.number, input.path);
  return {
    asset: {
      id: asset.id,
      ownerUserId: asset.owner_user_id,
      isStarter: asset.is_starter,
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
    files: files.map(({ path, sha256, size_bytes }) => ({ path, sha256, sizeBytes: Number(size_bytes) })),
  };
}
