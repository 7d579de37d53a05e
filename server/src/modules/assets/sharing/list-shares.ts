import type { listShares as endpoint, Shares } from '@bakehouse/contract/asset-shares';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { findChangeableAsset } from '../access/find-changeable-asset.ts';
import { selectShares } from './queries.ts';

/** Lists the users with whom the caller shares an asset. */
export async function listShares(ctx: Context, { params }: InputOf<typeof endpoint>): Promise<Shares> {
  const asset = await findChangeableAsset(ctx.db, { assetId: params.id, userId: ctx.caller.userId });
  return readShares(ctx.db, asset.id);
}

/** Returns the shares of an asset that was just changed. */
export async function readShares(db: Database | Transaction, assetId: string): Promise<Shares> {
  const rows = await selectShares(db, assetId);
  return {
    shares: rows.map(({ username, created_at }) => ({ username, shared_at: created_at.toISOString() })),
  };
}
