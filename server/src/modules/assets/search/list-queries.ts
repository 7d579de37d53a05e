import type { AssetType } from '@bakehouse/contract/assets';
import { sql } from 'kysely';
import type { Database } from '../../../platform/db/database.ts';
import { type AssetRow, asAssets, selectAssets, withOwners } from '../queries.ts';
import { selectGranted } from '../restricted/queries.ts';
import { anywhere, contains, firstOrIndexed, hasTrigrams, LOOKED_AT_MAX } from './search-text.ts';

export type SortKey = 'updated' | 'title' | 'size';
export type ListCursor = { value: string; id: string };

/** Each order with the id as its second key, so that a cursor names one place. */
const orders = {
  updated: { key: sql`assets.updated_at`, type: sql`timestamptz`, direction: sql`desc`, after: sql`<` },
  title: { key: sql`lower(assets.title)`, type: sql`text`, direction: sql`asc`, after: sql`>` },
  size: { key: sql`assets.size_bytes`, type: sql`bigint`, direction: sql`desc`, after: sql`<` },
};

type ListFilter = {
  userId: string;
  /** Null: all. */
  type: AssetType | null;
  includeStarter: boolean;
  search: string;
  sort: SortKey;
  cursor: ListCursor | null;
  limit: number;
};

/** One page. Each owner's rows are read in the order of an index, and only as many as the page has. */
export async function listAssets(
  db: Database,
  filter: ListFilter,
): Promise<(AssetRow & { sort_value: string })[]> {
  const { key, direction } = orders[filter.sort];
  const pages = whoseIn(filter).map((whose) => pageOf(db, filter, whose));
  const page = db
    .selectFrom(asAssets(pages.reduce((all, one) => all.unionAll(one))))
    .selectAll()
    .orderBy(sql`${key} ${direction}, id ${direction}`)
    .limit(filter.limit);
  // Their owners are looked up last: most of what is found is on no page.
  return withOwners(db, page)
    .select(sql<string>`${key}::text`.as('sort_value'))
    .orderBy(sql`${key} ${direction}, assets.id ${direction}`)
    .execute();
}

/** Own assets; the starter models, which have no owner; others' that a user was granted access to. */
type Whose = 'own' | 'starter' | 'granted';

function whoseIn({ includeStarter, type }: ListFilter): Whose[] {
  return includeStarter && type === 'MODEL' ? ['own', 'starter', 'granted'] : ['own'];
}

/** The page if there were only these assets. */
function pageOf(db: Database, filter: ListFilter, whose: Whose) {
  const { userId, search, sort, limit } = filter;
  const { key, direction } = orders[sort];
  const wanted = anywhere(search);
  const assets = assetsFrom(db, filter, whose);
  const inOrder = (some: typeof assets) => some.orderBy(sql`${key} ${direction}, assets.id ${direction}`);
  if (search === '') return db.selectFrom(inOrder(assets).limit(limit).as('page')).selectAll();
  const matching = (some: typeof assets) =>
    inOrder(db.selectFrom(asAssets(some)).selectAll().where(contains(wanted))).limit(limit);
  if (whose !== 'own') return db.selectFrom(matching(assets).as('page')).selectAll();
  const first = matching(inOrder(assets).limit(LOOKED_AT_MAX));
  const indexed = matching(assets.where(hasTrigrams(userId, wanted)));
  return db.selectFrom(firstOrIndexed({ first, indexed }, limit).as('page')).selectAll();
}

/** These assets, from the page's cursor on. */
function assetsFrom(db: Database, { userId, type, sort, cursor }: ListFilter, whose: Whose) {
  const { key, type: keyType, after } = orders[sort];
  let query = selectAssets(db);
  if (type !== null) query = query.where('assets.dataset_type', '=', type);
  if (whose === 'own') query = query.where('assets.owner_user_id', '=', userId);
  if (whose === 'starter') query = query.where('assets.owner_user_id', 'is', null);
  if (whose === 'granted') {
    query = query
      // An array, so that each is found by its id however many assets there are.
      .where(sql<boolean>`assets.id = any(array(${selectGranted(db, userId)}))`)
      .where('assets.owner_user_id', '!=', userId);
  }
  if (!cursor) return query;
  return query.where(
    sql<boolean>`(${key}, assets.id) ${after} (${cursor.value}::${keyType}, ${cursor.id}::uuid)`,
  );
}
