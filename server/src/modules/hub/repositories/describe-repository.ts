import type { RepositorySummary } from '@bakehouse/contract/hub/repositories';
import type { CardFields } from '../../assets/card/card-metadata.ts';
import type { AssetRow } from '../../assets/queries.ts';
import { namespaceOf, repositoryId } from '../../assets/repositories/namespace.ts';
import { emptyCommit } from '../../assets/revisions/find-commit.ts';

type About = {
  userId: string;
  /** The commit's id; of an asset without files the one before them. */
  sha?: string | undefined;
  /** Of the revision that is described; by default the newest. */
  card?: CardFields;
};

/** What is said of a repository wherever it is listed. Pure. */
export function describeRepository(asset: AssetRow, { userId, sha, card = asset }: About): RepositorySummary {
  const id = repositoryId(asset);
  // An operator has let the caller read it.
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
