import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type {
  getIpfs as getIpfsEndpoint,
  listIpfsFiles as listIpfsFilesEndpoint,
} from '@bakehouse/contract/ipfs';
import type { Context } from '../../platform/context.ts';
import { findReadableAsset } from '../assets/access/find-readable-asset.ts';
import { requireRevision } from '../assets/access/require-revision.ts';
import { formatCursor, parseCursor } from '../assets/files/files.ts';
import { listRevisionFiles } from '../assets/revisions/list-revision-files.ts';
import { configuredServices } from './pins/pin-service.ts';
import { selectBlobCids, selectPins, selectRevisionCids } from './queries.ts';

/**
 * Returns the revisions that use IPFS with their CIDs and pins; the cursor is the last revision of the
 * previous page.
 */
export async function getIpfs(
  ctx: Context,
  { params, query: { limit, cursor } }: InputOf<typeof getIpfsEndpoint>,
): Promise<ResponseOf<typeof getIpfsEndpoint>> {
  const asset = await findReadableAsset(ctx.db, { assetId: params.id, userId: ctx.caller.userId });
  const services = configuredServices(ctx.config);
  const found = await selectRevisionCids(ctx.db, { assetId: asset.id, before: cursor, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const cids = rows.map(({ cid }) => cid).filter((cid) => cid !== null);
  const pins = await selectPins(ctx.db, cids, services);
  return {
    use_ipfs: asset.use_ipfs,
    services,
    revisions: rows.map(({ id, number, created_at, cid, reason }) => ({
      revision_id: id,
      number,
      created_at: created_at.toISOString(),
      ...{ cid, reason },
      pins: pins
        .filter((pin) => pin.cid === cid)
        .map((pin) => ({
          ...{ service: pin.service, state: pin.state, reason: pin.reason },
          checked_at: pin.checked_at?.toISOString() ?? null,
        })),
    })),
    next_cursor: found.length > limit ? (rows.at(-1)?.id ?? null) : null,
  };
}

/** Returns the files of a revision in the order of their paths. */
export async function listIpfsFiles(
  ctx: Context,
  { params, query }: InputOf<typeof listIpfsFilesEndpoint>,
): Promise<ResponseOf<typeof listIpfsFilesEndpoint>> {
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
