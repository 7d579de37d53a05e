import type { deleteModel as deleteModelEndpoint } from '@bakehouse/contract/chat';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { modelNotFound } from '../../../platform/errors.ts';
import type { FindAssetUse } from '../../assets/asset-use.ts';
import { deleteAsset } from '../../assets/remove-asset.ts';
import { toModelName } from '../names/model-name.ts';

/** Names with this prefix are reserved for fine-tunes. */
const FINE_TUNE_PREFIX = 'ft:';

/**
 * Maximum lengths of the base's title and of the suffix in a name. The username and the id need the remaining
 * length.
 */
const BASE_LENGTH_MAX = 60;

const SUFFIX_LENGTH_MAX = 64;

type Names = { baseTitle: string; username: string; suffix: string };

/**
 * Names the model that a run produced, as OpenAI does: `ft:BASE:USERNAME:SUFFIX:ID`. Its owner calls it by
 * this name.
 */
export async function nameFineTune(
  tx: Transaction,
  { assetId, baseTitle, username, suffix }: Names & { assetId: string },
): Promise<void> {
  const base = toModelName(baseTitle).slice(0, BASE_LENGTH_MAX);
  const end = suffix === '' ? '' : toModelName(suffix).slice(0, SUFFIX_LENGTH_MAX);
  await insertName(tx, { assetId, name: ['ft', base, username, end, assetId.slice(0, 8)].join(':') });
}

type FineTune = Awaited<ReturnType<typeof selectFineTunes>>[number];

/** Returns the caller's own fine-tune with this name, if any. */
export async function findFineTune(
  db: Database | Transaction,
  own: { userId: string; name: string },
): Promise<FineTune | undefined> {
  const [found] = own.name.startsWith(FINE_TUNE_PREFIX) ? await selectFineTunes(db, own) : [];
  return found;
}

/** Returns the user's fine-tunes, optionally only those with these ids. */
export async function listFineTunes(
  db: Database | Transaction,
  own: { userId: string; assetIds?: string[] },
): Promise<FineTune[]> {
  return own.assetIds?.length === 0 ? [] : selectFineTunes(db, own);
}

/**
 * Deletes a fine-tune of the caller. Throws AppError 'model_not_found' for any other model, and whatever
 * `deleteAsset` throws.
 */
export async function deleteModel(
  ctx: Context,
  { model, findUses }: { model: string; findUses: FindAssetUse[] },
): Promise<ResponseOf<typeof deleteModelEndpoint>> {
  const found = await findFineTune(ctx.db, { userId: ctx.caller.userId, name: model });
  if (!found) {
    const publicMessage = `You have no fine-tune '${model}', and only fine-tunes can be deleted here`;
    throw modelNotFound(publicMessage);
  }
  await deleteAsset(ctx, { assetId: found.assetId, findUses });
  return { id: model, object: 'model', deleted: true };
}

type Db = Database | Transaction;

/** Stores the name unless the model already has one. */
async function insertName(
  tx: Transaction,
  { assetId, name }: { assetId: string; name: string },
): Promise<void> {
  await tx
    .insertInto('fine_tuned_models')
    .values({ asset_id: assetId, name })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns the user's fine-tunes, oldest first, optionally only those with this name or these ids. */
async function selectFineTunes(
  db: Db,
  { userId, name, assetIds }: { userId: string; name?: string; assetIds?: string[] },
) {
  return db
    .selectFrom('fine_tuned_models as tuned')
    .innerJoin('assets', 'assets.id', 'tuned.asset_id')
    .leftJoin('asset_lineage as lineage', 'lineage.asset_id', 'tuned.asset_id')
    .select(['tuned.asset_id as assetId', 'tuned.name', 'tuned.created_at as createdAt'])
    .select('lineage.base_title as baseTitle')
    .where('assets.owner_user_id', '=', userId)
    .where('assets.deleted_at', 'is', null)
    .where('assets.revision_id', 'is not', null)
    .$if(name !== undefined, (query) => query.where('tuned.name', '=', name ?? ''))
    .$if(assetIds !== undefined, (query) => query.where('tuned.asset_id', 'in', assetIds ?? []))
    .orderBy('tuned.created_at')
    .orderBy('tuned.asset_id')
    .execute();
}
