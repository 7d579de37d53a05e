import { type RawBuilder, sql } from 'kysely';

export type Column = 'assets.search_text' | 'restricted_models.search_text';

/** What is looked for, and the part of it for which the index is asked; without one it is asked for all of it. */
export type Wanted = { words: string; part: string | null };

/** That the words lie anywhere in a `search_text`: in a name, an id, a family or a tag, letter case aside. */
export function contains(column: Column, { words, part }: Wanted): RawBuilder<boolean> {
  return part === null ? has(column, words) : hasEach(column, [words], part);
}

/** That each of the words lies anywhere in it by itself, in whatever order: one in the name, another in a tag. */
export function containsEach(column: Column, { words, part }: Wanted): RawBuilder<boolean> {
  const each = wordsOf(words);
  if (part !== null) return hasEach(column, each, part);
  return sql`(${sql.join(
    each.map((word) => has(column, word)),
    sql` and `,
  )})`;
}

/** That one of the names in a `search_text` is just these words, letter case aside: each stands on a line of its own. */
export function hasName(column: Column, { words }: Pick<Wanted, 'words'>): RawBuilder<boolean> {
  return sql`string_to_array(${sql.ref(column)}, chr(10)) @> array[lower(${words})]`;
}

/** What is typed as single words, each once. */
export function wordsOf(words: string): string[] {
  return [...new Set(words.split(/\s+/).filter((word) => word !== ''))];
}

function has(column: Column, text: string): RawBuilder<boolean> {
  return sql`${sql.ref(column)} like ${pattern(text)}`;
}

/**
 * The same for each of the texts, which the index does not know under this collation: it is asked for their part alone.
 * The planner knows how many rows have each of them all the same.
 */
function hasEach(column: Column, texts: string[], part: string): RawBuilder<boolean> {
  const each = texts.map((text) => sql`${sql.ref(column)} collate "C" like ${pattern(text)}`);
  return sql`(${sql.join([has(column, part), ...each], sql` and `)})`;
}

/** Signs of LIKE mean themselves. */
function pattern(text: string): RawBuilder<string> {
  return sql`lower(${`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`})`;
}
