import type { listAssetCommits as endpoint } from '@bakehouse/contract/asset-commits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { unknownCursor } from '../../../platform/unknown-cursor.ts';
import { findReadableAsset } from '../access/find-readable-asset.ts';
import { findCommit, findHead } from './find-commit.ts';
import { listCommits } from './list-commits.ts';
import { toWireCommits } from './to-wire-commit.ts';

/** Lists the commits of an asset, newest first; the cursor is the previous page's last commit. */
export async function listAssetCommits(
  ctx: Context,
  { params, query: { limit, cursor } }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const asset = await findReadableAsset(ctx.db, { assetId: params.id, userId: ctx.caller.userId });
  const last = cursor === undefined ? null : await findCommit(ctx.db, asset, cursor);
  if (cursor !== undefined && last === null) throw unknownCursor();
  const { number: from } = last ?? (await findHead(ctx.db, asset));
  const found = await listCommits(ctx.db, asset, { from, skip: last ? 1 : 0, limit: limit + 1 });
  const commits = found.slice(0, limit);
  return {
    commits: await toWireCommits(ctx.db, commits),
    next_cursor: found.length > limit ? (commits.at(-1)?.commitId ?? null) : null,
  };
}
