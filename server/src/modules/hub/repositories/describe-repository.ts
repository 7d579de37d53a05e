import type { RepositorySummary } from '@bakehouse/contract/hub/repositories';
import type { CardFields } from '../../assets/card/card-metadata.ts';
import type { AssetRow } from '../../assets/queries.ts';
import { namespaceOf, repositoryId } from '../../assets/repositories/namespace.ts';
import { emptyCommit } from '../../assets/revisions/find-commit.ts';

type About = {
  userId: string;
  /** The commit's id; for an asset without files, the id of its initial commit. */
  sha?: string | undefined;
  /** Card of the described revision; defaults to the newest. */
  card?: CardFields;
};

/** Returns the summary of a repository for lists. */
export function describeRepository(asset: AssetRow, { userId, sha, card = asset }: About): RepositorySummary {
  const id = repositoryId(asset);
  // An operator has granted the caller access.
  const isGranted = asset.is_restricted && asset.owner_user_id !== userId;
  return {
    _id: asset.id,
    id,
    ...(asset.dataset_type === 'MODEL' && { modelId: id }),
    author: namespaceOf(asset.owner_username),
    sha: sha ?? emptyCommit(asset).commitId,
    lastModified: asset.updated_at.toISOString(),
    createdAt: asset.created_at.toISOString(),
    private: !asset.is_starter && !asset.is_published && !isGranted,
    gated: isGranted ? 'manual' : false,
    disabled: false,
    downloads: Number(asset.downloads),
    likes: 0,
    tags: [...new Set([...asset.tags, ...card.card_tags])],
    ...(card.pipeline_tag !== null && { pipeline_tag: card.pipeline_tag }),
    ...(card.library_name !== null && { library_name: card.library_name }),
  };
}
