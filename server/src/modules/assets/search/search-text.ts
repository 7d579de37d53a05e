import { type RawBuilder, sql } from 'kysely';

export type Column = 'assets.search_text' | 'restricted_models.search_text';

/** What is looked for, and the part of it for which the index is asked; without one it is asked for all of it. */
export type Wanted = { words: string; part: string | null };

/** That the words lie anywhere in one of the names: a title, an id, a family or a tag, letter case aside. */
export function contains(column: Column, { words, part }: Wanted): RawBuilder<boolean> {
  return part === null ? has(column, words) : hasEach(column, [words], part);
}

/** That each of the words lies anywhere in them by itself, in whatever order: one in the name, another in a tag. */
export function containsEach(column: Column, { words, part }: Wanted): RawBuilder<boolean> {
  const each = wordsOf(words);
  if (part !== null) return hasEach(column, each, part);
  return sql`(${sql.join(
    each.map((word) => has(column, word)),
    sql` and `,
  )})`;
}

/** That one of the names is just these words, letter case aside: in a `search_text` each stands on a line of its own. */
export function hasName(column: Column, { words }: Pick<Wanted, 'words'>): RawBuilder<boolean> {
  const isOnLine = sql<boolean>`string_to_array(${sql.ref(column)}, chr(10)) @> array[lower(${words})]`;
  if (!isOfAssets(column) || !isId.test(words)) return isOnLine;
  return sql`(${isOnLine} or assets.id = ${words}::uuid)`;
}

/** What is typed as single words, each once. */
export function wordsOf(words: string): string[] {
  return [...new Set(words.split(/\s+/).filter((word) => word !== ''))];
}

const isId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const mayLieInId = /^[\da-f-]{1,36}$/i;

/** The id of an asset is not in its `search_text`: random ones have trigrams of names by chance. */
const isOfAssets = (column: Column) => column === 'assets.search_text';

function has(column: Column, text: string, collation = sql``): RawBuilder<boolean> {
  const inNames = isLike(sql`${sql.ref(column)}${collation}`, text);
  if (!isOfAssets(column) || !mayLieInId.test(text)) return inNames;
  return sql`(${inNames} or ${isLike(sql`assets.id::text${collation}`, text)})`;
}

/**
 * The same for each of the texts, which the index does not know under this collation: it is asked for their part alone.
 * The planner knows how many rows have each of them all the same.
 */
function hasEach(column: Column, texts: string[], part: string): RawBuilder<boolean> {
  const isOfNames = texts.some((text) => text.includes(part) && !mayLieInId.test(text));
  const asked = isOfNames ? isLike(sql.ref(column), part) : has(column, part);
  const each = texts.map((text) => has(column, text, sql` collate "C"`));
  return sql`(${sql.join([asked, ...each], sql` and `)})`;
}

/** Signs of LIKE mean themselves. */
function isLike(text: RawBuilder<unknown>, part: string): RawBuilder<boolean> {
  return sql`${text} like lower(${`%${part.replaceAll(/[\\%_]/g, '\\$&')}%`})`;
}
