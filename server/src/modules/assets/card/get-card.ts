import { text } from 'node:stream/consumers';
import { CARD_BYTES_MAX, type getCard as endpoint } from '@bakehouse/contract/asset-commits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { findReadableAsset } from '../access/find-readable-asset.ts';
import { CARD_PATH } from '../queries.ts';
import { findHead } from '../revisions/commits.ts';
import { findFilesOf } from '../revisions/read-tree.ts';

/** Returns the raw card of the newest commit. Throws AppError 'conflict' if its bytes are damaged. */
export async function getCard(
  ctx: Context,
  { assetId }: { assetId: string },
): Promise<ResponseOf<typeof endpoint>> {
  const asset = await findReadableAsset(ctx.db, { assetId, userId: ctx.caller.userId });
  const { number, commitId } = await findHead(ctx.db, asset);
  const [card] = await findFilesOf(ctx.db, { assetId: asset.id, number, paths: [CARD_PATH] });
  if (!card || card.size_bytes === 0n) return { content: '', is_whole: true, commit_id: commitId };
  const range = { start: 0, end: Math.min(Number(card.size_bytes), CARD_BYTES_MAX) - 1 };
  const content = await text(await readBlob(ctx, { sha256: card.sha256, path: card.path, range }));
  return { content, is_whole: card.size_bytes <= CARD_BYTES_MAX, commit_id: commitId };
}
