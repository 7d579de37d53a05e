import type { SearchResult } from '@bakehouse/contract/search';
import { sql } from 'kysely';
import type { Database } from '../../../platform/db/database.ts';
import { asAssets, selectAssets } from '../queries.ts';
import { anywhere, contains, firstOrIndexed, hasTrigrams, LOOKED_AT_MAX, wholeName } from './search-text.ts';

export type FoundRow = {
  id: string;
  kind: SearchResult['kind'];
  title: string;
  family: string;
  tags: string[];
  is_starter: boolean;
};

type Search = { userId: string; words: string; limit: number };

/** How much of the word's trigrams a name must have: 'lama' has enough of 'llama', and 'sourdough' too little of 'source'. */
const SIMILARITY_MIN = 0.42;

/** What has the words in it: own assets, starter models and restricted models, those first of which a whole name is just that, then the newest. */
export async function findMatching(db: Database, { userId, words, limit }: Search): Promise<FoundRow[]> {
  const isExact = contains(wholeName(words)).as('is_exact');
  const own = [anywhere(words), wholeName(words)].flatMap((wanted) =>
    (['RAW', 'MODEL'] as const).map((type) => {
      const assets = selectAssets(db).where('owner_user_id', '=', userId).where('dataset_type', '=', type);
      const newest = (source: typeof assets) =>
        foundAssets(db, source)
          .select([isExact, 'updated_at'])
          .where(contains(wanted))
          .orderBy('updated_at', 'desc')
          .limit(limit);
      const first = newest(assets.orderBy('updated_at', 'desc').limit(LOOKED_AT_MAX));
      const indexed = newest(assets.where(hasTrigrams(userId, wanted)));
      return db.selectFrom(firstOrIndexed({ first, indexed }, limit).as('own')).selectAll();
    }),
  );
  // An operator has entered each of the others: there are few.
  const starters = foundAssets(db, selectAssets(db).where('owner_user_id', 'is', null))
    .select([isExact, 'updated_at'])
    .where(contains(anywhere(words)));
  const restricted = foundRestricted(db)
    .select([isExact, 'updated_at'])
    .where(contains(anywhere(words)));
  return db
    .selectFrom(
      [...own, restricted].reduce<typeof starters>((all, one) => all.union(one), starters).as('found'),
    )
    .selectAll()
    .orderBy('is_exact', 'desc')
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** What has something like the words in it, the most alike first: of the newest, since this is a hint. */
export async function findSimilar(db: Database, { userId, words, limit }: Search): Promise<FoundRow[]> {
  const similarity = sql<number>`word_similarity(${words}, search_text)`.as('similarity');
  const own = (['RAW', 'MODEL'] as const).map((type) =>
    foundAssets(
      db,
      selectAssets(db)
        .where('owner_user_id', '=', userId)
        .where('dataset_type', '=', type)
        .orderBy('updated_at', 'desc')
        .limit(LOOKED_AT_MAX),
    ).select(similarity),
  );
  const starters = foundAssets(db, selectAssets(db).where('owner_user_id', 'is', null)).select(similarity);
  const restricted = foundRestricted(db).select(similarity);
  return db
    .selectFrom(
      [...own, restricted].reduce<typeof starters>((all, one) => all.unionAll(one), starters).as('found'),
    )
    .selectAll()
    .where('similarity', '>=', SIMILARITY_MIN)
    .orderBy('similarity', 'desc')
    .orderBy('title')
    .orderBy('id')
    .limit(limit)
    .execute();
}

function foundAssets(db: Database, assets: ReturnType<typeof selectAssets>) {
  return db
    .selectFrom(asAssets(assets))
    .select([sql<string>`id::text`.as('id'), 'title', 'family', 'tags', 'is_starter'])
    .select(sql<FoundRow['kind']>`case dataset_type when 'RAW' then 'dataset' else 'model' end`.as('kind'));
}

function foundRestricted(db: Database) {
  return db
    .selectFrom('restricted_models')
    .select(['id', 'name as title', 'family', 'tags', sql<boolean>`false`.as('is_starter')])
    .select(sql<FoundRow['kind']>`'restricted_model'`.as('kind'));
}
