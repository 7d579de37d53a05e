import type { Context } from '../../../platform/context.ts';
import type { ReadableRevision } from '../access/require-revision.ts';
import { ensureCardData } from '../card/card-data.ts';
import type { CardData } from '../card/parse-card.ts';
import { CARD_PATH, findAsset } from '../queries.ts';
import { repositoryId } from '../repositories/namespace.ts';
import { findSource } from '../sources/sources.ts';
import { findCommitIds } from './commits.ts';
import { findFilesOf } from './read-tree.ts';

/** The first revision of a copy from a hub. */
const COPIED = 1;

/**
 * Returns a revision's name on a hub, and its card's metadata. A copy from a hub has its original's name, and
 * the original's commit until the copy changes. A published asset has its name on this server. A private
 * asset has no name, so that cards of other models do not reveal it.
 */
export async function nameRevision(
  ctx: Context,
  { asset, revision }: ReadableRevision,
): Promise<{ repository: string | null; commitId: string | null; card: CardData | null }> {
  const { db } = ctx;
  const of = { assetId: asset.id, number: revision.number, paths: [CARD_PATH] };
  const [row, source, commits, [card]] = await Promise.all([
    findAsset(db, asset.id),
    findSource(db, asset.id),
    findCommitIds(db, [revision.id]),
    findFilesOf(db, of),
  ]);
  const cardData = await ensureCardData(ctx, card, ctx.caller.userId);
  if (source) {
    const commitId = revision.number === COPIED ? source.commitId : null;
    return { repository: source.repoId, commitId, card: cardData };
  }
  if (!row || !(row.is_published || row.is_starter))
    return { repository: null, commitId: null, card: cardData };
  return {
    repository: repositoryId(row),
    commitId: commits.get(revision.id) ?? null,
    card: cardData,
  };
}
