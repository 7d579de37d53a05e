import type { DatasetType } from '@bakehouse/contract/assets';
import type { SearchResult } from '@bakehouse/contract/search';
import { type RawBuilder, sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { PIPELINE_INDEX } from '../recognise/pipeline-index.ts';
import { findRarestPart } from './rarest-part.ts';
import { type Column, contains, containsEach, hasName, type Wanted, wordsOf } from './search-text.ts';

export type FoundRow = {
  id: string;
  kind: SearchResult['kind'];
  title: string;
  family: string;
  tags: string[];
  is_starter: boolean;
};

type Search = { userId: string; words: string; limit: number };

/** Matches of a misspelt word that are compared at most. */
const COMPARED_MAX = 200;
/** How much of the word's trigrams a name must have: 'lama' has enough of 'llama', and 'sourdough' too little of 'source'. */
const SIMILARITY_MIN = '0.42';
/** The id is one of the names that the words are compared with. */
const textWithId = sql`asset_search_text(assets.id::text, assets.title, assets.family, assets.base_model_type, assets.tags)`;

/** What has the words in it as they are: own assets, starter models and restricted models, those first of which a whole name is just that, then the newest. */
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
  /** Those of one owner and type in the order of an index, so that nobody sorts a hundred thousand. */
  const arm = (owner: string | null, type: DatasetType, condition: Condition) =>
    db.selectFrom(
      foundAssets(db, owner)
        .select([hasName('assets.search_text', wanted).as('is_exact'), 'updated_at'])
        .where('dataset_type', '=', type)
        .where(condition('assets.search_text', wanted))
        .orderBy('updated_at', 'desc')
        .limit(limit)
        .as('arm'),
    );
  const arms = conditions.flatMap((condition) => [
    arm(userId, 'RAW', condition).selectAll(),
    arm(userId, 'MODEL', condition).selectAll(),
    arm(null, 'MODEL', condition).selectAll(),
  ]);
  // An operator has entered each of them: there are few.
  const restricted = foundRestricted(db)
    .select([hasName('restricted_models.search_text', wanted).as('is_exact'), 'updated_at'])
    .where(conditions[0]('restricted_models.search_text', wanted));
  return db
    .selectFrom(
      arms
        .reduce((all, one) => all.union(one))
        .union(restricted)
        .as('found'),
    )
    .selectAll()
    .orderBy('is_exact', 'desc')
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** What has something like the words in it, the most alike first. */
export async function findSimilar(tx: Transaction, { userId, words, limit }: Search): Promise<FoundRow[]> {
  // What the operator `%>` goes by; the index knows no function.
  await sql`select set_config('pg_trgm.word_similarity_threshold', ${SIMILARITY_MIN}, true)`.execute(tx);
  const arm = (owner: string | null) =>
    tx.selectFrom(
      foundAssets(tx, owner)
        .select(sql<number>`word_similarity(${words}, ${textWithId})`.as('similarity'))
        .where(sql<boolean>`(assets.search_text %> ${words} or assets.id::text %> ${words})`)
        .limit(COMPARED_MAX)
        .as('arm'),
    );
  const restricted = foundRestricted(tx)
    .select(sql<number>`word_similarity(${words}, restricted_models.search_text)`.as('similarity'))
    .where(sql<boolean>`restricted_models.search_text %> ${words}`);
  return tx
    .selectFrom(arm(userId).selectAll().unionAll(arm(null).selectAll()).unionAll(restricted).as('found'))
    .selectAll()
    .where(sql<boolean>`similarity >= ${SIMILARITY_MIN}::real`)
    .orderBy('similarity', 'desc')
    .orderBy('title')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Of these models, those that have something to deploy, and whether they are in Diffusers' format. Paris needs no deployment. */
export async function selectDeployable(db: Database, ids: string[]) {
  return db
    .selectFrom('assets')
    .select((eb) => [
      'id',
      eb
        .exists(
          eb
            .selectFrom('asset_files')
            .whereRef('asset_id', '=', 'assets.id')
            .where('path', '=', PIPELINE_INDEX)
            .where('last_number', 'is', null),
        )
        .as('has_pipeline'),
    ])
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('file_count', '>', 0)
    .where('family', '!=', 'paris')
    .execute();
}

function foundAssets(db: Database | Transaction, owner: string | null) {
  return db
    .selectFrom('assets')
    .select([sql<string>`id::text`.as('id'), 'title', 'family', 'tags', 'is_starter'])
    .select(sql<FoundRow['kind']>`case dataset_type when 'RAW' then 'dataset' else 'model' end`.as('kind'))
    .where('deleted_at', 'is', null)
    .where('owner_user_id', owner === null ? 'is' : '=', owner);
}

function foundRestricted(db: Database | Transaction) {
  return db
    .selectFrom('restricted_models')
    .select(['id', 'name as title', 'family', 'tags', sql<boolean>`false`.as('is_starter')])
    .select(sql<FoundRow['kind']>`'restricted_model'`.as('kind'));
}
