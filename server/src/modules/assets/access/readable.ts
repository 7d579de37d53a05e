import { type RawBuilder, sql } from 'kysely';

/*
 * The only definition of who may read a dataset or model. It has two forms: a condition that checks a single
 * asset (`isReadableBy`), and one condition per way of access for lists and searches (`isReadableAs`), each
 * backed by its own index. Change both together.
 */

/**
 * The user's own assets, starter models (which have no owner), published assets, assets shared with the user,
 * and restricted models granted to the user.
 */
export const ways = ['own', 'starter', 'published', 'shared', 'granted'] as const;

export type Way = (typeof ways)[number];

/**
 * Returns the condition that the user may read an asset, for checks of single assets. `userId` is a value or
 * a column.
 */
export function isReadableBy(userId: string | RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(coalesce(assets.owner_user_id = ${userId}, false) or assets.is_starter or assets.is_published
    or exists (select from asset_shares share where share.asset_id = assets.id and share.user_id = ${userId})
    or exists (
      select from restricted_models model
      join access_requests request on request.restricted_model_id = model.id
      where model.asset_id = assets.id and request.user_id = ${userId} and request.state = 'granted'
    ))`;
}

/**
 * Returns the condition that the user may read an asset in this one way. Lists use it, because it matches an
 * index.
 */
export function isReadableAs(way: Way, userId: string): RawBuilder<boolean> {
  return conditions[way](userId);
}

const conditions: Record<Way, (userId: string) => RawBuilder<boolean>> = {
  own: (userId) => sql`assets.owner_user_id = ${userId}`,
  starter: () => sql`assets.owner_user_id is null`,
  published: () => sql`assets.is_published`,
  // With arrays of ids, PostgreSQL looks up each asset by its id instead of reading all assets.
  shared: (userId) =>
    sql`assets.id = any(array(select share.asset_id from asset_shares share where share.user_id = ${userId}))`,
  granted: (userId) => sql`assets.id = any(array(
    select model.asset_id from access_requests request
    join restricted_models model on model.id = request.restricted_model_id
    where request.user_id = ${userId} and request.state = 'granted' and model.asset_id is not null
  ))`,
};
