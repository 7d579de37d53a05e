import type { listFileVersions as endpoint } from '@bakehouse/contract/data-files';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../../platform/context.ts';
import { findReadableAsset } from '../../access/find-readable-asset.ts';
import { selectVersions } from './version-queries.ts';

const VERSIONS_MAX = 100;

/** The revisions that brought a file or replaced it, newest first. */
export async function listVersions(
  ctx: Context,
  { assetId, path }: { assetId: string; path: string },
): Promise<ResponseOf<typeof endpoint>> {
  const asset = await findReadableAsset(ctx.db, { assetId, userId: ctx.caller.userId });
  const rows = await selectVersions(ctx.db, { assetId: asset.id, path, limit: VERSIONS_MAX });
  return {
    versions: rows.map(({ id, number, created_at, sha256, size_bytes }) => ({
      revision_id: id,
      number,
      created_at: created_at.toISOString(),
      sha256,
      size_bytes: Number(size_bytes),
    })),
  };
}
