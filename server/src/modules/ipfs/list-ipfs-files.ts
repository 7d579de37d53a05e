import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { listIpfsFiles as endpoint } from '@bakehouse/contract/ipfs';
import type { Context } from '../../platform/context.ts';
import { requireRevision } from '../assets/access/require-revision.ts';
import { formatCursor, parseCursor } from '../assets/files/list-files-page.ts';
import { listRevisionFiles } from '../assets/revisions/list-revision-files.ts';
import { withCids } from './cids/address-files.ts';

/** The files of a revision in the order of their paths. */
export async function listIpfsFiles(
  ctx: Context,
  { params, query }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { limit, cursor, revision_id: wanted } = query;
  const { revision } = await requireRevision(ctx.db, {
    ...{ assetId: params.id, userId: ctx.caller.userId },
    ...(wanted && { revisionId: wanted }),
  });
  const after = cursor ? parseCursor(cursor) : undefined;
  const found = await listRevisionFiles(ctx.db, { revisionId: revision.id, after, limit: limit + 1 });
  const page = await withCids(ctx.db, found.slice(0, limit));
  const last = page.at(-1);
  return {
    files: page.map(({ path, sizeBytes, sha256, cid }) => ({ path, size_bytes: sizeBytes, sha256, cid })),
    next_cursor: found.length > limit && last ? formatCursor(last.path) : null,
  };
}
