import { type RawBuilder, sql } from 'kysely';

export type Column = 'assets.search_text' | 'restricted_models.search_text';

/** The search words, and the part to look up in the index; null to look up all words. */
export type Wanted = { words: string; part: string | null };

/** Returns the condition that a name (title, id, family or tag) contains the words, ignoring case. */
export function contains(column: Column, { words, part }: Wanted): RawBuilder<boolean> {
  return part === null ? has(column, words) : hasEach(column, [words], part);
}

/** Returns the condition that the names contain each of the words, in any order. */
export function containsEach(column: Column, { words, part }: Wanted): RawBuilder<boolean> {
  const each = wordsOf(words);
  if (part !== null) return hasEach(column, each, part);
  return sql`(${sql.join(
    each.map((word) => has(column, word)),
    sql` and `,
  )})`;
}

/** Returns the condition that a name, which is a line of `search_text`, equals the words. */
export function hasName(column: Column, { words }: Pick<Wanted, 'words'>): RawBuilder<boolean> {
  const isOnLine = sql<boolean>`string_to_array(${sql.ref(column)}, chr(10)) @> array[lower(${words})]`;
  if (!isOfAssets(column) || !isId.test(words)) return isOnLine;
  return sql`(${isOnLine} or assets.id = ${words}::uuid)`;
}

/** Splits the input into unique words. */
export function wordsOf(words: string): string[] {
  return [...new Set(words.split(/\s+/).filter((word) => word !== ''))];
}

const isId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const mayLieInId = /^[\da-f-]{1,36}$/i;

/** `search_text` excludes the id of an asset, because random ids share trigrams with names by chance. */
const isOfAssets = (column: Column) => column === 'assets.search_text';

function has(column: Column, text: string, collation = sql``): RawBuilder<boolean> {
  const inNames = isLike(sql`${sql.ref(column)}${collation}`, text);
  if (!isOfAssets(column) || !mayLieInId.test(text)) return inNames;
  return sql`(${inNames} or ${isLike(sql`assets.id::text${collation}`, text)})`;
}

/**
 * Matches each of the texts, and looks up only `part` in the index: the other conditions have a collation
 * that the index does not support. The planner can still estimate how many rows match each text.
 */
function hasEach(column: Column, texts: string[], part: string): RawBuilder<boolean> {
  const isOfNames = texts.some((text) => text.includes(part) && !mayLieInId.test(text));
  const asked = isOfNames ? isLike(sql.ref(column), part) : has(column, part);
  const each = texts.map((text) => has(column, text, sql` collate "C"`));
  return sql`(${sql.join([asked, ...each], sql` and `)})`;
}

/** Escapes the special characters of LIKE. */
function isLike(text: RawBuilder<unknown>, part: string): RawBuilder<boolean> {
  return sql`${text} like lower(${`%${part.replaceAll(/[\\%_]/g, '\\$&')}%`})`;
}
