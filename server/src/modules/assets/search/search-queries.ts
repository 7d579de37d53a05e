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

/**
 * Starter and granted models are missing here, because separate queries find them as models and restricted
 * models.
 */
const searched: readonly Way[] = ['own', 'published', 'shared'];

type Search = { userId: string; words: string; limit: number };

/** Maximum matches that are compared with a misspelt word. */
const COMPARED_MAX = 200;
/** Minimum share of common trigrams: 'lama' matches 'llama', but 'sourdough' does not match 'source'. */
const SIMILARITY_MIN = '0.42';
/** The names to compare, including the id. */
const textWithId = sql`asset_search_text(assets.id::text, assets.title, assets.family, assets.base_model_type, assets.tags)`;

/**
 * Finds the words as typed in readable assets and restricted models: first exact matches of a whole name,
 * then the user's assets, then the newest.
 */
export async function findMatching(db: Database, search: Search): Promise<FoundRow[]> {
  const part = await findRarestPart(db, [search.words]);
  return findBy(db, { ...search, part }, [contains, hasName]);
}

/** Finds assets whose names contain each of the words, newest first. */
export async function findWords(db: Database, search: Search): Promise<FoundRow[]> {
  const part = await findRarestPart(db, wordsOf(search.words));
  return findBy(db, { ...search, part }, [containsEach]);
}

type Condition = (column: Column, wanted: Wanted) => RawBuilder<boolean>;

/**
 * Finds assets that match at least one of the conditions. The first condition includes the others' matches.
 */
async function findBy(
  db: Database,
  { userId, limit, ...wanted }: Search & Wanted,
  conditions: readonly [Condition, ...Condition[]],
): Promise<FoundRow[]> {
  /**
   * Selects assets of one way of access and type in the order of an index, so that not all matches are
   * sorted.
   */
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
  // Operators add these manually, so there are few.
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
      // The user's assets precede any number of published ones.
      .orderBy(sql`coalesce(owner_user_id != ${userId}, false)`)
      .orderBy('updated_at', 'desc')
      .orderBy('id')
      .limit(limit)
      .execute()
  );
}

/** Finds names similar to the words, most similar first. */
export async function findSimilar(tx: Transaction, { userId, words, limit }: Search): Promise<FoundRow[]> {
  // The operator `%>` reads its threshold from this setting. The index supports the operator, but not the
  // function.
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
