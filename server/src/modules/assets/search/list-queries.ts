import { type AssetType, assetTypes } from '@bakehouse/contract/assets';
import { sql } from 'kysely';
import type { Database } from '../../../platform/db/database.ts';
import { type AssetRow, selectAssets } from '../queries.ts';
import { selectGranted } from '../restricted/queries.ts';
import { findRarestPart } from './rarest-part.ts';
import { contains } from './search-text.ts';

export type SortKey = 'updated' | 'created' | 'title' | 'size' | 'downloads';
export type ListCursor = { value: string; id: string };

/** Each order with the id as its second key, so that a cursor names one place. */
const orders = {
  updated: { key: sql`assets.updated_at`, type: sql`timestamptz`, direction: sql`desc`, after: sql`<` },
  created: { key: sql`assets.created_at`, type: sql`timestamptz`, direction: sql`desc`, after: sql`<` },
  title: { key: sql`lower(assets.title)`, type: sql`text`, direction: sql`asc`, after: sql`>` },
  size: { key: sql`assets.size_bytes`, type: sql`bigint`, direction: sql`desc`, after: sql`<` },
  downloads: {
    key: sql`coalesce(asset_downloads.downloads, 0)`,
    ...{ type: sql`bigint`, direction: sql`desc`, after: sql`<` },
  },
};

export type ListFilter = {
  userId: string;
  /** Null: all. */
  type: AssetType | null;
  includeStarter: boolean;
  /** Only those of this kind of owner; what `includeStarter` leaves out stays out. */
  whose?: Share['whose'] | undefined;
  search: string;
  /** Each of them, letter for letter. */
  tags?: string[];
  sort: SortKey;
  cursor: ListCursor | null;
  limit: number;
};

/** One page. The rows of each owner and type are read in the order of an index, and only as many as the page has. */
export async function listAssets(
  db: Database,
  filter: ListFilter,
): Promise<(AssetRow & { sort_value: string })[]> {
  const { direction } = orders[filter.sort];
  const part = await findRarestPart(db, [filter.search]);
  const shares = sharesOf(filter).filter(({ whose }) => filter.whose === undefined || whose === filter.whose);
  const pages = shares.map((share) => pageOf(db, { ...filter, part }, share));
  return db
    .selectFrom(pages.reduce((all, one) => all.unionAll(one)).as('page'))
    .selectAll()
    .orderBy(sql`sort_key ${direction}, id ${direction}`)
    .limit(filter.limit)
    .execute();
}

/** Own assets; what everybody may use, which has no owner; others' that a user was granted access to. */
type Share = { whose: 'own' | 'starter' | 'granted'; type: AssetType };

function sharesOf({ includeStarter, type }: ListFilter): Share[] {
  if (type === null) return assetTypes.map((one) => ({ whose: 'own', type: one }));
  if (!includeStarter) return [{ whose: 'own', type }];
  return [
    { whose: 'own', type },
    { whose: 'starter', type },
    // Models alone are restricted.
    ...(type === 'MODEL' ? [{ whose: 'granted' as const, type }] : []),
  ];
}

/** The page if there were only these assets. */
function pageOf(db: Database, filter: ListFilter & { part: string | null }, { whose, type }: Share) {
  const { userId, search, part, tags = [], sort, cursor, limit } = filter;
  const { key, type: keyType, direction, after } = orders[sort];
  let query = selectAssets(db)
    .select([sql`${key}`.as('sort_key'), sql<string>`${key}::text`.as('sort_value')])
    .where('assets.dataset_type', '=', type);
  if (whose === 'own') query = query.where('assets.owner_user_id', '=', userId);
  if (whose === 'starter') query = query.where('assets.owner_user_id', 'is', null);
  if (whose === 'granted') {
    query = query
      // An array, so that each is found by its id however many assets there are.
      .where(sql<boolean>`assets.id = any(array(${selectGranted(db, userId)}))`)
      .where('assets.owner_user_id', '!=', userId);
  }
  if (search !== '') query = query.where(contains('assets.search_text', { words: search, part }));
  if (tags.length > 0) query = query.where(sql<boolean>`assets.tags @> ${tags}::text[]`);
  if (cursor) {
    query = query.where(
      sql<boolean>`(${key}, assets.id) ${after} (${cursor.value}::${keyType}, ${cursor.id}::uuid)`,
    );
  }
  return db
    .selectFrom(query.orderBy(sql`${key} ${direction}, assets.id ${direction}`).limit(limit).as('own'))
    .selectAll();
}
