import type { AssetFile, AssetSummary, AssetType } from '@bakehouse/contract/assets';
import { formatBgl } from '@bakehouse/contract/money';
import type { AssetRow, FileRow } from './queries.ts';

const STARTER_OWNER = 'bakehouse';

/** Returns a row in the format of lists, with its pipeline if it was looked up. */
export function toSummary(row: AssetRow, pipeline: string | null = null): AssetSummary {
  return {
    dataset_id: row.id,
    dataset_type: row.dataset_type as AssetType,
    title: row.title,
    category: row.category,
    details: row.details,
    tags: row.tags,
    user_id: row.owner_user_id,
    owner_username: row.owner_username ?? STARTER_OWNER,
    is_starter: row.is_starter,
    starter_task: row.starter_task as AssetSummary['starter_task'],
    is_published: row.is_published,
    is_shared: row.is_shared,
    use_ipfs: row.use_ipfs,
    price: formatBgl(row.price_micro),
    embedding_model: row.embedding_model,
    dimensions: row.dimensions,
    base_model_type: row.base_model_type,
    family: row.family,
    pipeline,
    parent_dataset_id: row.parent_asset_id,
    is_whole: row.is_whole,
    file_count: row.file_count,
    size_bytes: Number(row.size_bytes),
    revision_id: row.revision_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export function toWireFile(row: FileRow): AssetFile {
  return {
    path: row.path,
    size_bytes: Number(row.size_bytes),
    sha256: row.sha256,
    uploaded_at: row.uploaded_at.toISOString(),
  };
}
