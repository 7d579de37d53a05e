import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { getIpfs as endpoint } from '@bakehouse/contract/ipfs';
import type { Context } from '../../platform/context.ts';
import { findReadableAsset } from '../assets/access/find-readable-asset.ts';
import { configuredServices } from './pins/configured-services.ts';
import { selectPins, selectRevisionCids } from './queries.ts';

/**
 * Returns the revisions that use IPFS with their CIDs and pins; the cursor is the last revision of the
 * previous page.
 */
export async function getIpfs(
  ctx: Context,
  { params, query: { limit, cursor } }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
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
