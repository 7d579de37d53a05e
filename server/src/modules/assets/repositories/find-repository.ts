import type { Context } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { conflict } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { isUuid } from '../../../platform/is-uuid.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { lockChangeableAsset } from '../access/changeable.ts';
import { selectReadableIds } from '../access/select-readable-ids.ts';
import { type AssetRow, findAsset } from '../queries.ts';
import { findClonedAsset } from '../sources/sources.ts';
import { reserveAssetName, usernameOf } from './namespace.ts';
import {
  findByName,
  findByOldName,
  findRestricted,
  type RepositoryType,
  setName,
} from './repository-queries.ts';

/** The namespace of assets that are named by their ids. */
const BY_ID = 'id';

type RepositoryName = { type: RepositoryType; namespace: string; name: string };

/**
 * Returns the first readable asset for the hub clients' `namespace/name`, in this order: the user's own asset
 * or the starter model with this name; the user's copy of the public hub's repository; another user's asset
 * with this name; the restricted model with this id. `id/…` names an asset by its id. The copy precedes other
 * users' assets, because a user may have taken a hub publisher's name. Null if the user may read none of
 * them, 'gated' if an operator must grant access first.
 */
export async function findRepository(
  db: Database | Transaction,
  { userId, ...wanted }: RepositoryName & { userId: string },
): Promise<AssetRow | 'gated' | null> {
  const named = await findNamed(db, wanted);
  if (named && (named.owner_user_id === userId || named.is_starter)) return named;
  const copy = await findCopy(db, wanted, userId);
  if (copy) return copy;
  const found = named ? await asReadable(db, named, userId) : null;
  if (found !== null && found !== 'gated') return found;
  const restricted = await findRestrictedModel(db, wanted);
  return (restricted && (await asReadable(db, restricted, userId))) ?? found;
}

/** Like `findRepository`, for calls that change the asset. Considers only names and ids, never a copy. */
export async function findNamedRepository(
  db: Database | Transaction,
  { userId, ...wanted }: RepositoryName & { userId: string },
): Promise<AssetRow | 'gated' | null> {
  const named = await findNamed(db, wanted);
  return named ? asReadable(db, named, userId) : null;
}

/** Returns the asset that had this name before it was moved, if the user may read it. */
export async function findMovedRepository(
  db: Database | Transaction,
  { type, namespace, name, userId }: RepositoryName & { userId: string },
): Promise<AssetRow | null> {
  const username = usernameOf(namespace);
  const asset = username ? await findByOldName(db, { type, username, name }) : undefined;
  const found = asset ? await asReadable(db, asset, userId) : null;
  return found === 'gated' ? null : found;
}

async function asReadable(
  db: Database | Transaction,
  asset: AssetRow,
  userId: string,
): Promise<AssetRow | 'gated' | null> {
  const readable = await selectReadableIds(db, { ids: [asset.id], userId });
  if (readable.has(asset.id)) return asset;
  return asset.is_restricted ? 'gated' : null;
}

async function findNamed(
  db: Database | Transaction,
  { type, namespace, name }: RepositoryName,
): Promise<AssetRow | undefined> {
  if (namespace === BY_ID) {
    const asset = isUuid(name) ? await findAsset(db, name) : undefined;
    return asset && (asset.dataset_type === 'MODEL') === (type === 'model') ? asset : undefined;
  }
  const username = usernameOf(namespace);
  return username === undefined ? undefined : findByName(db, { type, username, name });
}

async function findRestrictedModel(
  db: Database | Transaction,
  { type, namespace, name }: RepositoryName,
): Promise<AssetRow | undefined> {
  return type === 'model' ? findRestricted(db, `${namespace}/${name}`) : undefined;
}

/**
 * Returns the user's clone of a public repository. A fine-tune refers to its base by the public hub's name.
 */
async function findCopy(
  db: Database | Transaction,
  { type, namespace, name }: RepositoryName,
  userId: string,
): Promise<AssetRow | undefined> {
  const id = await findClonedAsset(db, { userId, repoId: `${namespace}/${name}`, type });
  return id === null ? undefined : findAsset(db, id);
}

/** Renames an asset of the caller for the hub's clients. Throws AppError 'conflict' for a taken name. */
export async function renameAsset(
  ctx: Context,
  { assetId, name }: { assetId: string; name: string },
): Promise<void> {
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    const asset = await lockChangeableAsset(tx, { assetId, userId });
    const type = asset.dataset_type === 'MODEL' ? 'model' : 'dataset';
    const isSame = asset.name.toLowerCase() === name.toLowerCase();
    if (!isSame && !(await reserveAssetName(tx, { userId, type, name })))
      throw conflict(`You have a ${type} ${name} already`, { param: 'toRepo' });
    await setName(tx, assetId, name);
    await recordAudit(tx, { userId, action: 'asset.renamed', detail: { asset_id: assetId, name } });
    await publishChange(tx, userId, { topic: 'asset', id: assetId });
  });
}
