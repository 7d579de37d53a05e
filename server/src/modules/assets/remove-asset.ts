import { sql } from 'kysely';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { conflict, notFound } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { lockChangeableAsset } from './access/changeable.ts';
import { isReadableBy } from './access/readable.ts';
import { selectReadableIds } from './access/select-readable-ids.ts';
import type { FindAssetUse } from './asset-use.ts';
import { deleteUploadsOfAsset } from './files/upload/parts/queries.ts';
import { collectBlobsJob } from './jobs/collect-blobs.ts';
import { purgeAsset } from './purge-asset.ts';
import { isWhole, markDeleted } from './queries.ts';

/** Maximum models named in an error. */
const NAMED_MAX = 3;

const findDependentOf: FindAssetUse = async (tx, { assetId, userId }) => {
  const { titles, count } = await listOwnDependents(tx, { assetId, userId, limit: NAMED_MAX });
  if (count === 0) return findForeignDependents(tx, { assetId, userId });
  const names = titles.map((title) => `'${title}'`);
  if (count > titles.length) names.push(`${count - titles.length} more`);
  const list = new Intl.ListFormat('en-GB').format(names);
  return count === 1
    ? `${list} cannot work without it. Delete that model first.`
    : `${list} cannot work without it. Delete these models first.`;
};

const findForeignDependents: FindAssetUse = async (tx, asset) => {
  const count = await countForeignDependents(tx, asset);
  if (count === 0) return null;
  const use = count === 1 ? 'A model of another user was' : `${count} models of other users were`;
  if (asset.userId === null) return `${use} fine-tuned from it, and cannot work without it.`;
  return `${use} fine-tuned from it. End their access first: from then on they cannot be deployed.`;
};

/**
 * Step: marks a locked asset as deleted for all users; `purgeAsset` later deletes its rows. `userId` is the
 * deleting user, or null for an operator on the machine. Throws AppError 'conflict' if the asset is in use.
 */
export async function removeAsset(
  tx: Transaction,
  {
    asset,
    userId,
    findUses,
  }: { asset: { id: string; title: string }; userId: string | null; findUses: FindAssetUse[] },
): Promise<void> {
  for (const findUse of [...findUses, findDependentOf]) {
    const use = await findUse(tx, { assetId: asset.id, userId });
    if (use) throw conflict(use);
  }
  await markDeleted(tx, asset.id);
  await deleteUploadsOfAsset(tx, asset.id);
  const detail = { asset_id: asset.id, title: asset.title };
  await recordAudit(tx, { userId, action: 'asset.deleted', detail });
  await publishChange(tx, userId, { topic: 'asset', id: asset.id });
}

/**
 * Deletes the asset with all its revisions. Its bytes are deleted when no other asset refers to them. Throws
 * AppError 'conflict' if a run or a deployment uses the asset, or if a model depends on it: a fine-tune or an
 * uploaded adapter cannot be served without its base. A model of another user blocks the deletion only if its
 * owner may read the base.
 */
export async function deleteAsset(
  ctx: Context,
  input: { assetId: string; findUses: FindAssetUse[] },
): Promise<void> {
  const { assetId } = input;
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    const asset = await lockChangeableAsset(tx, { assetId, userId });
    await removeAsset(tx, { asset, userId, findUses: input.findUses });
    await ctx.jobs.enqueue(tx, collectBlobsJob, {});
  });
  // The asset is deleted already. If this step fails, or a large asset has more rows, a job deletes them
  // later.
  await purgeAsset(ctx.db, { assetId }).catch((error: unknown) =>
    ctx.log.warn({ err: error, asset_id: assetId }, 'failed to purge a deleted asset; the job will retry'),
  );
}

/**
 * Returns the owner's models that depend on this one, as their number and the first titles: fine-tunes and
 * adapters that do not contain the full weights.
 */
async function listOwnDependents(
  tx: Transaction,
  { assetId, userId, limit }: { assetId: string; userId: string | null; limit: number },
): Promise<{ titles: string[]; count: number }> {
  const tuned = tx
    .selectFrom('asset_lineage')
    .select('asset_id as id')
    .where('base_asset_id', '=', assetId)
    .where(sql<boolean>`not ${isWhole(sql.ref('asset_lineage.asset_id'))}`);
  const uploaded = tx
    .selectFrom('assets as adapters')
    .innerJoin('asset_files', 'asset_files.asset_id', 'adapters.id')
    .select('adapters.id')
    .where('adapters.parent_asset_id', '=', assetId)
    .where('asset_files.path', '=', 'adapter_config.json')
    .where('asset_files.last_number', 'is', null);
  const rows = await tx
    .selectFrom('assets')
    .select(['title', sql<bigint>`count(*) over ()`.as('count')])
    .where('id', 'in', tuned.union(uploaded))
    .where(sql<boolean>`owner_user_id = ${userId}::text`)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .limit(limit)
    .execute();
  return { titles: rows.map((row) => row.title), count: Number(rows[0]?.count ?? 0n) };
}

/**
 * Counts other users' fine-tunes of this model whose owners may still read it, because only those can be
 * deployed. Adapters that other users uploaded do not count.
 */
async function countForeignDependents(
  tx: Transaction,
  { assetId, userId }: { assetId: string; userId: string | null },
): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from asset_lineage lineage
    join assets tuned on tuned.id = lineage.asset_id and tuned.deleted_at is null
    where lineage.base_asset_id = ${assetId} and not ${isWhole(sql.ref('tuned.id'))} and tuned.owner_user_id is distinct from ${userId}::text
      and exists (select from assets where assets.id = ${assetId} and ${isReadableBy(sql.ref('tuned.owner_user_id'))})`.execute(
    tx,
  );
  return Number(rows[0]?.count ?? 0n);
}

/**
 * Step: until the transaction ends, prevents other transactions from deleting the assets or ending the user's
 * access. Later changes to the assets therefore see the rows that this transaction writes. Throws AppError
 * 'not_found' if an asset is already deleted, or if the user may not read it.
 */
export async function lockAssetsForUse(
  tx: Transaction,
  { ids, userId }: { ids: string[]; userId: string },
): Promise<void> {
  const wanted = [...new Set(ids)].sort();
  await tx.selectFrom('assets').select('id').where('id', 'in', wanted).orderBy('id').forKeyShare().execute();
  // Check after locking: this transaction may have waited for another that deleted an asset or ended the
  // access.
  const readable = await selectReadableIds(tx, { ids: wanted, userId });
  if (readable.size < wanted.length) throw notFound('Asset');
}
