import type { Database, Transaction } from '../../../platform/db/database.ts';
import { isUuid } from '../../../platform/is-uuid.ts';
import { selectReadableIds } from '../access/select-readable-ids.ts';
import { type AssetRow, findAsset } from '../queries.ts';
import { findClonedAsset } from '../sources/sources.ts';
import { usernameOf } from './namespace.ts';
import { findByName, findByOldName, findRestricted, type RepositoryType } from './repository-queries.ts';

/** Stands for a namespace where an asset is named by its id. */
const BY_ID = 'id';

type RepositoryName = { type: RepositoryType; namespace: string; name: string };

/**
 * The asset that the hub's clients call `namespace/name`, the first that the user may read: by its name, as `id/…` by its
 * id, a restricted model by its own, or the user's own copy of the public hub's repository of that name. This copy comes
 * before a repository of another user, who may have taken the name of a publisher there. Null if the user may read none,
 * 'gated' if an operator has to grant access first.
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

/** The same for who changes it: by its name or id alone, so that no change meets a copy that goes by another's name. */
export async function findNamedRepository(
  db: Database | Transaction,
  { userId, ...wanted }: RepositoryName & { userId: string },
): Promise<AssetRow | 'gated' | null> {
  const named = await findNamed(db, wanted);
  return named ? asReadable(db, named, userId) : null;
}

/** The asset that was called so before it was moved, if the user may read it. */
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

/** A fine-tune names its base as the public hub does: where that was cloned, it is found here too. */
async function findCopy(
  db: Database | Transaction,
  { type, namespace, name }: RepositoryName,
  userId: string,
): Promise<AssetRow | undefined> {
  const id = await findClonedAsset(db, { userId, repoId: `${namespace}/${name}`, type });
  return id === null ? undefined : findAsset(db, id);
}
