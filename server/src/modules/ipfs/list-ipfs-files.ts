import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { listIpfsFiles as endpoint } from '@bakehouse/contract/ipfs';
import type { Context } from '../../platform/context.ts';
import { requireRevision } from '../assets/access/require-revision.ts';
import { formatCursor, parseCursor } from '../assets/files/list-files-page.ts';
import { listRevisionFiles } from '../assets/revisions/list-revision-files.ts';
import { selectBlobCids } from './queries.ts';

/** Returns the files of a revision in the order of their paths. */
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
  const page = found.slice(0, limit);
  const known = await selectBlobCids(ctx.db, [...new Set(page.map(({ sha256 }) => sha256))]);
  const last = page.at(-1);
  return {
    files: page.map(({ path, sizeBytes, sha256 }) => ({
      ...{ path, size_bytes: sizeBytes, sha256 },
      cid: known.get(sha256)?.cid ?? null,
    })),
    next_cursor: found.length > limit && last ? formatCursor(last.path) : null,
  };
}
