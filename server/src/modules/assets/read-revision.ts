import type { DatasetType } from '@bakehouse/contract/assets';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { findReadableAsset } from './access/find-readable-asset.ts';
import { type FileChoice, findRevision, listFiles, type StarterTask } from './queries.ts';

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

type Wanted = { assetId: string; revisionId?: string; userId: string; param?: string };

/**
 * One revision of an asset with its files, the newest unless said, for work that uses exactly
 * that. An asset may have very many files: whoever needs some says which, and gets those of them that are there. Throws
 * what `requireRevision` throws.
 */
export async function readRevision(
  tx: Database | Transaction,
  { paths, top, ...wanted }: Wanted & FileChoice,
): Promise<AssetRevision> {
  const found = await requireRevision(tx, wanted);
  const { number } = found.revision;
  const files = await listFiles(tx, { assetId: found.asset.id, number, paths, top });
  return {
    ...found,
    files: files.map(({ path, sha256, size_bytes }) => ({ path, sha256, sizeBytes: Number(size_bytes) })),
  };
}

/**
 * The same without its files. Throws AppError('not_found') unless the user may read it, and 'conflict' when it has no
 * files yet, both with the field `param` that names it.
 */
export async function requireRevision(
  tx: Database | Transaction,
  input: Wanted,
): Promise<Omit<AssetRevision, 'files'>> {
  const asset = await findReadableAsset(tx, input);
  const revisionId = input.revisionId ?? asset.revision_id;
  if (!revisionId)
    throw new AppError('conflict', { publicMessage: `${asset.title} has no files yet`, param: input.param });
  const revision = await findRevision(tx, asset.id, revisionId);
  if (!revision) throw new AppError('not_found', { publicMessage: 'This asset has no such revision' });
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
  };
}
