import { type Compilable, type Expression, type RawBuilder, sql } from 'kysely';

/** What is looked for in a `search_text`, where each name stands in lower case on a line of its own. */
export type Wanted = { text: string };

/** That the words lie anywhere: in a name, an id, a family or a tag. */
export function anywhere(words: string): Wanted {
  return { text: words };
}

/** That one of the names is just these words. */
export function wholeName(words: string): Wanted {
  return { text: `\n${words}\n` };
}

/** That the column `search_text` has what is wanted in it, letter case aside. */
export function contains({ text }: Wanted): RawBuilder<boolean> {
  // Signs of LIKE mean themselves.
  return sql`search_text like lower(${`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`})`;
}

/** That the index knows an asset of this owner to have the trigrams of what is wanted; it may still not contain it. Fewer than three letters have none. */
export function hasTrigrams(userId: string, { text }: Wanted): RawBuilder<boolean> {
  if ([...text].length < 3) return sql`true`;
  return sql`asset_search_trigrams(assets.owner_user_id, assets.search_text)
    @> asset_search_trigrams(${userId}, lower(${text}))`;
}

/** How many of one owner are looked at one by one before the index is asked. */
export const LOOKED_AT_MAX = 1000;

/**
 * What the first rows in the order of a list have, where it fills the page, and else what the index finds. What is
 * frequent is found at once among the first, without sorting all of it; what is rare, by the index.
 */
export function firstOrIndexed<Row>(
  { first, indexed }: Record<'first' | 'indexed', Expression<Row> & Compilable>,
  limit: number,
): RawBuilder<Row> {
  return sql`(
    with first as (${first})
    select * from first where (select count(*) from first) >= ${limit}::int
    union all
    select * from (${indexed}) as indexed where (select count(*) from first) < ${limit}::int
  )`;
}
