import { sql } from 'kysely';
import type { Database } from '../../../platform/db/database.ts';

/** Length of a part. Five characters have three trigrams, which is selective enough. */
const LETTERS = 5;
/** Matches texts with an ASCII trigram: three letters or digits, or fewer at the start or end of a word. */
const hasTrigram = /[a-z\d]{3}|[^a-z\d][a-z\d]|[a-z\d]{2}[^a-z\d]/i;

/**
 * Returns the part of the texts that the fewest assets contain, according to the planner's sample. For a long
 * text, the index would intersect the matches of every trigram, including very common ones. The query
 * therefore looks up only this part in the index, and compares the results with the whole text. Null if the
 * texts have no shorter part, or are so common that the planner may do better without the index.
 */
export async function findRarestPart(db: Database, texts: string[]): Promise<string | null> {
  const parts = texts.flatMap(partsOf);
  if (parts.length === 0 || (texts.length === 1 && texts[0] === parts[0])) return null;
  const { rows } = await sql<{ part: string }>`
    with sample as materialized (
      select unnest(histogram_bounds::text::text[]) as text from pg_stats
      where schemaname = current_schema() and tablename = 'assets' and attname = 'search_text'
    )
    select part from unnest(${parts}::text[]) with ordinality as parts (part, n)
    where not exists (
      select from sample
      where (select bool_and(position(lower(asked) in sample.text) > 0) from unnest(${texts}::text[]) asked)
    )
    order by (select count(*) from sample where position(lower(part) in sample.text) > 0), length(part) desc, n desc
    limit 1`.execute(db);
  return rows[0]?.part ?? null;
}

/**
 * Splits a text into parts that a trigram index can find: short words with their neighbouring characters, and
 * pieces of long words.
 */
export function partsOf(text: string): string[] {
  return [...text.matchAll(/[a-z\d]+/gi)]
    .flatMap(({ 0: word, index }) =>
      word.length < LETTERS
        ? [text.slice(Math.max(0, index - 1), index + word.length + 1).replaceAll(/[^ -~]/g, '')]
        : piecesOf(word),
    )
    .filter((part) => hasTrigram.test(part));
}

/** All have the same length; the last two may overlap. */
function piecesOf(word: string): string[] {
  const count = Math.ceil(word.length / LETTERS);
  return Array.from({ length: count }, (_, i) => {
    const from = Math.min(i * LETTERS, word.length - LETTERS);
    return word.slice(from, from + LETTERS);
  });
}
