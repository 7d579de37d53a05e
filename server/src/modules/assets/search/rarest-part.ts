import { sql } from 'kysely';
import type { Database } from '../../../platform/db/database.ts';

/** Letters and digits of a part: three trigrams, which tell enough apart. */
const LETTERS = 5;
/** What has a trigram of ASCII: three letters or digits, or fewer at the beginning or the end of a word. */
const hasTrigram = /[a-z\d]{3}|[^a-z\d][a-z\d]|[a-z\d]{2}[^a-z\d]/i;

/**
 * The part of the texts that the fewest assets have, by the planner's sample of what is searched. Of a long text the index
 * would intersect the assets of each trigram, also of those that nearly all have: so it is asked for this part alone, and
 * what it finds is compared with all of it. Null where there is none that is shorter, and where so many assets have the
 * texts that the planner may do better without the index: of the part it knows only that more have it.
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

/** Parts of a text, any of which an index of trigrams can be asked for: its short words, with what is beside them, and pieces of long ones. */
export function partsOf(text: string): string[] {
  return [...text.matchAll(/[a-z\d]+/gi)]
    .flatMap(({ 0: word, index }) =>
      word.length < LETTERS
        ? [text.slice(Math.max(0, index - 1), index + word.length + 1).replaceAll(/[^ -~]/g, '')]
        : piecesOf(word),
    )
    .filter((part) => hasTrigram.test(part));
}

/** All of the same length; the last two may overlap. */
function piecesOf(word: string): string[] {
  const count = Math.ceil(word.length / LETTERS);
  return Array.from({ length: count }, (_, i) => {
    const from = Math.min(i * LETTERS, word.length - LETTERS);
    return word.slice(from, from + LETTERS);
  });
}
