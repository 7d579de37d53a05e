import type { AssetCommit } from '@bakehouse/contract/asset-commits';
import type { Commit } from './find-commit.ts';

export function toWireCommit(commit: Commit): AssetCommit {
  return {
    commit_id: commit.commitId,
    revision_id: commit.revisionId,
    number: commit.number,
    message: commit.message,
    author: commit.author,
    created_at: commit.createdAt.toISOString(),
  };
}
