import { type RawBuilder, sql } from 'kysely';

export type Column = 'assets.search_text' | 'restricted_models.search_text';

/** That the words lie anywhere in a `search_text`: in a name, an id, a family or a tag, letter case aside. */
export function contains(column: Column, words: string): RawBuilder<boolean> {
  return sql`${sql.ref(column)} like lower(${`%${escaped(words)}%`})`;
}

/** That each of the words lies anywhere in it by itself, in whatever order: one in the name, another in a tag. */
export function containsEach(column: Column, words: string): RawBuilder<boolean> {
  const each = wordsOf(words).map((word) => contains(column, word));
  return sql`(${sql.join(each, sql` and `)})`;
}

/** What is typed as single words, each once. */
export function wordsOf(words: string): string[] {
  return [...new Set(words.split(/\s+/).filter((word) => word !== ''))];
}

/** That one of the names in a `search_text` is just these words, letter case aside: each stands on a line of its own. */
export function hasName(column: Column, words: string): RawBuilder<boolean> {
  return sql`string_to_array(${sql.ref(column)}, chr(10)) @> array[lower(${words})]`;
}

/** Signs of LIKE mean themselves. */
function escaped(words: string): string {
  return words.replaceAll(/[\\%_]/g, '\\$&');
}
