import type { RestrictedModel } from '@bakehouse/contract/restricted-models';
import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';

type AccessState = RestrictedModel['access'];

/** Selects restricted models with the state of this user's request. Deleted assets have no files here. */
function selectModels(db: Database | Transaction, userId: string) {
  return db
    .selectFrom('restricted_models as model')
    .leftJoin('access_requests as request', (join) =>
      join.onRef('request.restricted_model_id', '=', 'model.id').on('request.user_id', '=', userId),
    )
    .leftJoin('assets', (join) =>
      join.onRef('assets.id', '=', 'model.asset_id').on('assets.deleted_at', 'is', null),
    )
    .select([
      'model.id',
      'model.name',
      'model.family',
      'model.tags',
      'model.details',
      'assets.id as asset_id',
      sql<boolean>`coalesce(assets.owner_user_id = ${userId}, false)`.as('is_own'),
      sql<AccessState>`coalesce(request.state, 'none')`.as('access'),
    ]);
}

export type ModelRow = Awaited<ReturnType<typeof listModels>>[number];

/** Returns models by id, after the id `cursor`. */
export async function listModels(
  db: Database,
  { userId, cursor = '', limit }: { userId: string; cursor?: string | undefined; limit: number },
) {
  return selectModels(db, userId).where('model.id', '>', cursor).orderBy('model.id').limit(limit).execute();
}

export async function findModel(
  db: Database | Transaction,
  { userId, modelId }: { userId: string; modelId: string },
): Promise<ModelRow | undefined> {
  return selectModels(db, userId).where('model.id', '=', modelId).executeTakeFirst();
}

type ModelWords = {
  family?: string | undefined;
  tags?: string[] | undefined;
  details?: string | undefined;
  asset_id?: string | null | undefined;
};

/** Adds a model, or updates the model with this id; absent fields stay unchanged. */
export async function upsertModel(
  tx: Transaction,
  { id, ...words }: ModelWords & { id: string; name: string },
): Promise<void> {
  await tx
    .insertInto('restricted_models')
    .values({
      ...words,
      id,
      family: words.family ?? '',
      tags: words.tags ?? [],
      details: words.details ?? '',
    })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...words, updated_at: sql<Date>`now()` }))
    .execute();
}

/** Updates the given fields. Returns true if the model exists. */
export async function updateModel(
  tx: Transaction,
  { id, ...words }: ModelWords & { id: string },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('restricted_models')
    .set({ ...words, updated_at: sql<Date>`now()` })
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns true if a model was deleted. */
export async function deleteModel(tx: Transaction, modelId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('restricted_models')
    .where('id', '=', modelId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Returns the users who have requested access to a model. */
export async function listRequesters(tx: Transaction, modelId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('access_requests')
    .select('user_id')
    .where('restricted_model_id', '=', modelId)
    .execute();
  return rows.map(({ user_id }) => user_id);
}

/** Creates a request, or renews a rejected one. Returns true if there is a new request. */
export async function insertRequest(
  tx: Transaction,
  request: { modelId: string; userId: string; message: string },
): Promise<boolean> {
  const made = await tx
    .insertInto('access_requests')
    .values({ restricted_model_id: request.modelId, user_id: request.userId, message: request.message })
    .onConflict((conflict) =>
      conflict
        .columns(['restricted_model_id', 'user_id'])
        .doUpdateSet({
          message: request.message,
          state: 'requested',
          requested_at: sql<Date>`now()`,
          decided_at: null,
          decided_by: null,
        })
        .where('access_requests.state', '=', 'refused'),
    )
    .returning('id')
    .executeTakeFirst();
  return made !== undefined;
}

export async function deleteUserRequests(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('access_requests').where('user_id', '=', userId).execute();
}

export async function selectUserRequests(db: Database, userId: string) {
  return db
    .selectFrom('access_requests')
    .select(['restricted_model_id', 'message', 'state', 'requested_at', 'decided_at'])
    .where('user_id', '=', userId)
    .orderBy('requested_at')
    .execute();
}

export type RequestRow = Awaited<ReturnType<typeof listRequests>>[number];

function selectRequests(db: Database | Transaction) {
  return db
    .selectFrom('access_requests as request')
    .innerJoin('restricted_models as model', 'model.id', 'request.restricted_model_id')
    .innerJoin('users', 'users.id', 'request.user_id')
    .select([
      'request.id',
      'request.restricted_model_id',
      'model.name as model_name',
      'model.asset_id',
      'request.user_id',
      'users.username',
      'users.email',
      'request.message',
      'request.requested_at',
      'request.decided_at',
    ])
    .select(sql<Exclude<AccessState, 'none'>>`request.state`.as('state'));
}

/** Returns requests, newest first, from before the request `cursor`. */
export async function listRequests(
  db: Database,
  { state, cursor, limit }: { state?: AccessState | undefined; cursor?: string | undefined; limit: number },
) {
  let query = selectRequests(db);
  if (state !== undefined) query = query.where('request.state', '=', state);
  if (cursor !== undefined) {
    query = query.where(
      sql<boolean>`(request.requested_at, request.id) < (select requested_at, id from access_requests where id = ${cursor})`,
    );
  }
  return query.orderBy('request.requested_at', 'desc').orderBy('request.id', 'desc').limit(limit).execute();
}

export async function findRequest(db: Database | Transaction, id: string): Promise<RequestRow | undefined> {
  return selectRequests(db).where('request.id', '=', id).executeTakeFirst();
}

export async function setDecision(
  tx: Transaction,
  { id, decision, decidedBy, now }: { id: string; decision: string; decidedBy: string; now: Date },
): Promise<void> {
  await tx
    .updateTable('access_requests')
    .set({ state: decision, decided_at: now, decided_by: decidedBy })
    .where('id', '=', id)
    .execute();
}
