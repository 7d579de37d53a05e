import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import type { FindAssetUse } from './asset-use.ts';
import { countForeignDependents, listOwnDependents } from './dependent-queries.ts';
import { endUploadsOf } from './files/upload/parts/queries.ts';
import { markDeleted } from './queries.ts';

/** Maximum models named in an error. */
const NAMED_MAX = 3;

/**
 * Step: deletes a locked asset for all users, except for its rows, which `purgeAsset` deletes. `userId` is
 * the deleting user; null for an operator on the machine. Throws AppError 'conflict' while something uses the
 * asset.
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
    if (use) throw new AppError('conflict', { publicMessage: use });
  }
  await markDeleted(tx, asset.id);
  await endUploadsOf(tx, asset.id);
  const detail = { asset_id: asset.id, title: asset.title };
  await recordAudit(tx, { userId, action: 'asset.deleted', detail });
  await publishChange(tx, userId, { topic: 'asset', id: asset.id });
}

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
