import type { listFileVersions as endpoint } from '@bakehouse/contract/data-files';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../../platform/context.ts';
import { unknownCursor } from '../../../../platform/unknown-cursor.ts';
import { findReadableAsset } from '../../access/find-readable-asset.ts';
import { findRevisionNumber, selectVersions } from './version-queries.ts';

/** Lists revisions with changes to a file, newest first; the cursor is the previous page's last one. */
export async function listVersions(
  ctx: Context,
  { params, query: { path, limit, cursor } }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { id: assetId } = await findReadableAsset(ctx.db, { assetId: params.id, userId: ctx.caller.userId });
  const before = cursor === undefined ? undefined : await findRevisionNumber(ctx.db, assetId, cursor);
  if (cursor !== undefined && before === undefined) throw unknownCursor();
  const found = await selectVersions(ctx.db, { assetId, path, before, limit: limit + 1 });
  const rows = found.slice(0, limit);
  return {
    versions: rows.map(({ id, number, created_at, sha256, size_bytes }) => ({
      revision_id: id,
      number,
      created_at: created_at.toISOString(),
      sha256,
      size_bytes: Number(size_bytes),
    })),
    next_cursor: found.length > limit ? (rows.at(-1)?.id ?? null) : null,
  };
}
