import type { DatasetType } from '@bakehouse/contract/assets';
import type { SearchResult } from '@bakehouse/contract/search';
import { type RawBuilder, sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { isReadableAs, type Way } from '../access/readable.ts';
import { findRarestPart } from './rarest-part.ts';
import { type Column, contains, containsEach, hasName, type Wanted, wordsOf } from './search-text.ts';

export type FoundRow = {
  id: string;
  kind: SearchResult['kind'];
  title: string;
  family: string;
  tags: string[];
  is_starter: boolean;
  owner_user_id: string | null;
};

/** The starter models beside these are models all; what an operator grants is found as a restricted model. */
const searched: readonly Way[] = ['own', 'published', 'shared'];

type Search = { userId: string; words: string; limit: number };

/** Matches of a misspelt word that are compared at most. */
const COMPARED_MAX = 200;
/** How much of the word's trigrams a name must have: 'lama' has enough of 'llama', and 'sourdough' too little of 'source'. */
const SIMILARITY_MIN = '0.42';
/** The id is one of the names that the words are compared with. */
const textWithId = sql`asset_search_text(assets.id::text, assets.title, assets.family, assets.base_model_type, assets.tags)`;

/** What has the words in it as they are: assets that the user may read, and restricted models, those first of which a whole name is just that, then one's own, then the newest. */
export async function findMatching(db: Database, search: Search): Promise<FoundRow[]> {
  const part = await findRarestPart(db, [search.words]);
  return findBy(db, { ...search, part }, [contains, hasName]);
}

/** What has each of the words in it somewhere, the newest first. */
export async function findWords(db: Database, search: Search): Promise<FoundRow[]> {
  const part = await findRarestPart(db, wordsOf(search.words));
  return findBy(db, { ...search, part }, [containsEach]);
}

type Condition = (column: Column, wanted: Wanted) => RawBuilder<boolean>;

/** What meets one of the conditions; the first is the widest. */
async function findBy(
  db: Database,
  { userId, limit, ...wanted }: Search & Wanted,
  conditions: readonly [Condition, ...Condition[]],
): Promise<FoundRow[]> {
  /** Those of one way and type in the order of an index, so that nobody sorts a hundred thousand. */
  const arm = (way: Way, type: DatasetType, condition: Condition) =>
    db.selectFrom(
      foundAssets(db, way, userId)
        .select([hasName('assets.search_text', wanted).as('is_exact'), 'updated_at'])
        .where('dataset_type', '=', type)
        .where(condition('assets.search_text', wanted))
        .orderBy('updated_at', 'desc')
        .limit(limit)
        .as('arm'),
    );
  const arms = conditions.flatMap((condition) => [
    ...searched.map((way) => arm(way, 'RAW', condition).selectAll()),
    ...searched.map((way) => arm(way, 'MODEL', condition).selectAll()),
    arm('starter', 'MODEL', condition).selectAll(),
  ]);
  // An operator has entered each of them: there are few.
  const restricted = foundRestricted(db)
    .select([hasName('restricted_models.search_text', wanted).as('is_exact'), 'updated_at'])
    .where(conditions[0]('restricted_models.search_text', wanted));
  return (
    db
      .selectFrom(
        arms
          .reduce((all, one) => all.union(one))
          .union(restricted)
          .as('found'),
      )
      .selectAll()
      .orderBy('is_exact', 'desc')
      // One's own before what any number of others have published.
      .orderBy(sql`coalesce(owner_user_id != ${userId}, false)`)
      .orderBy('updated_at', 'desc')
      .orderBy('id')
      .limit(limit)
      .execute()
  );
}

/** What has something like the words in it, the most alike first. */
export async function findSimilar(tx: Transaction, { userId, words, limit }: Search): Promise<FoundRow[]> {
  // What the operator `%>` goes by; the index knows no function.
  await sql`select set_config('pg_trgm.word_similarity_threshold', ${SIMILARITY_MIN}, true)`.execute(tx);
  const arm = (way: Way) =>
    tx.selectFrom(
      foundAssets(tx, way, userId)
        .select(sql<number>`word_similarity(${words}, ${textWithId})`.as('similarity'))
        .where(sql<boolean>`(assets.search_text %> ${words} or assets.id::text %> ${words})`)
        .limit(COMPARED_MAX)
        .as('arm'),
    );
  const restricted = foundRestricted(tx)
    .select(sql<number>`word_similarity(${words}, restricted_models.search_text)`.as('similarity'))
    .where(sql<boolean>`restricted_models.search_text %> ${words}`);
  return tx
    .selectFrom(
      searched
        .map((way) => arm(way).selectAll())
        .reduce((all, one) => all.union(one), arm('starter').selectAll())
        .union(restricted)
        .as('found'),
    )
    .selectAll()
    .where(sql<boolean>`similarity >= ${SIMILARITY_MIN}::real`)
    .orderBy('similarity', 'desc')
    .orderBy('title')
    .orderBy('id')
    .limit(limit)
    .execute();
}

function foundAssets(db: Database | Transaction, way: Way, userId: string) {
  return db
    .selectFrom('assets')
    .select([sql<string>`id::text`.as('id'), 'title', 'family', 'tags', 'is_starter', 'owner_user_id'])
    .select(sql<FoundRow['kind']>`case dataset_type when 'RAW' then 'dataset' else 'model' end`.as('kind'))
    .where('deleted_at', 'is', null)
    .where(isReadableAs(way, userId));
}

function foundRestricted(db: Database | Transaction) {
  return db
    .selectFrom('restricted_models')
    .select([
      ...(['id', 'name as title', 'family', 'tags'] as const),
      sql<boolean>`false`.as('is_starter'),
      sql<string | null>`null`.as('owner_user_id'),
    ])
    .select(sql<FoundRow['kind']>`'restricted_model'`.as('kind'));
}
