import type { AssetCommit } from '@bakehouse/contract/asset-commits';
import type { Database } from '../../../platform/db/database.ts';
import { selectTagsOf } from './commit-queries.ts';
import type { Commit } from './find-commit.ts';

/** Returns a commit with its tags; a new commit has none. */
export function toWireCommit(commit: Commit, tags: string[] = []): AssetCommit {
  return {
    commit_id: commit.commitId,
    revision_id: commit.revisionId,
    number: commit.number,
    message: commit.message,
    author: commit.author,
    created_at: commit.createdAt.toISOString(),
    tags,
  };
}

/** Returns commits, each with its tags by name. */
export async function toWireCommits(db: Database, commits: Commit[]): Promise<AssetCommit[]> {
  const ids = commits.flatMap(({ revisionId }) => revisionId ?? []);
  const tags = Map.groupBy(await selectTagsOf(db, ids), ({ revisionId }) => revisionId);
  return commits.map((commit) =>
    toWireCommit(
      commit,
      tags.get(commit.revisionId ?? '')?.map(({ name }) => name),
    ),
  );
}
