import { type AssetType, assetTypes } from '@bakehouse/contract/assets';
import { sql } from 'kysely';
import type { Database } from '../../../platform/db/database.ts';
import { isReadableAs, type Way } from '../access/readable.ts';
import { type AssetRow, selectAssets } from '../queries.ts';
import { findRarestPart } from './rarest-part.ts';
import { contains } from './search-text.ts';

export type SortKey = 'updated' | 'created' | 'title' | 'size' | 'downloads';
export type ListCursor = { value: string; id: string };

/** Each order ends with the id, which makes a cursor unambiguous. */
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
  /** Null selects all types. */
  type: AssetType | null;
  /** The ways of access that the list includes. */
  whose: readonly Way[];
  /** Only assets of this owner. */
  ownerId?: string | undefined;
  search: string;
  /** Tags that must all match exactly, including tags of the card. */
  tags?: string[];
  /** Matches the card's task, or a tag with this name if the card has no task. */
  task?: string | undefined;
  sort: SortKey;
  cursor: ListCursor | null;
  limit: number;
};

/**
 * Returns one page of assets. For each way of access and type, reads at most one page of rows in the order of
 * an index, and merges them. The sort by downloads has no index, so it sorts all readable assets.
 */
export async function listAssets(
  db: Database,
  filter: ListFilter,
): Promise<(AssetRow & { sort_value: string })[]> {
  const { direction } = orders[filter.sort];
  const part = await findRarestPart(db, [filter.search]);
  const pages = sharesOf(filter).map((share) => pageOf(db, { ...filter, part }, share));
  const [first, ...others] = pages;
  if (!first) return [];
  // `union` removes duplicates: the user may read an asset in several ways.
  return db
    .selectFrom(others.reduce((all, one) => all.union(one), first).as('page'))
    .selectAll()
    .orderBy(sql`sort_key ${direction}, id ${direction}`)
    .limit(filter.limit)
    .execute();
}

type Share = { way: Way; type: AssetType };

/** Only models can be restricted. */
function sharesOf({ whose, type }: ListFilter): Share[] {
  const types = type === null ? assetTypes : [type];
  return types.flatMap((one) =>
    whose.filter((way) => way !== 'granted' || one === 'MODEL').map((way) => ({ way, type: one })),
  );
}

/** Returns the page of the assets of this type that the user may read in this way. */
function pageOf(db: Database, filter: ListFilter & { part: string | null }, { way, type }: Share) {
  const { userId, ownerId, search, part, task, sort, cursor, limit } = filter;
  const tags = [...(filter.tags ?? []), ...(task === undefined ? [] : [task])];
  const { key, type: keyType, direction, after } = orders[sort];
  let query = selectAssets(db)
    .select([sql`${key}`.as('sort_key'), sql<string>`${key}::text`.as('sort_value')])
    .where('assets.dataset_type', '=', type)
    .where(isReadableAs(way, userId));
  if (ownerId !== undefined) query = query.where('assets.owner_user_id', '=', ownerId);
  if (search !== '') query = query.where(contains('assets.search_text', { words: search, part }));
  if (tags.length > 0)
    query = query.where(sql<boolean>`(assets.tags || assets.card_tags) @> ${tags}::text[]`);
  if (task !== undefined) query = query.where(sql<boolean>`coalesce(assets.pipeline_tag, ${task}) = ${task}`);
  if (cursor) {
    query = query.where(
      sql<boolean>`(${key}, assets.id) ${after} (${cursor.value}::${keyType}, ${cursor.id}::uuid)`,
    );
  }
  return db
    .selectFrom(query.orderBy(sql`${key} ${direction}, assets.id ${direction}`).limit(limit).as('own'))
    .selectAll();
}
