import type { SqlAnswer, SqlFormat } from '@bakehouse/contract/sql';
import type { DuckDBConnection } from '@duckdb/node-api';
import { MEMORY_MB, openDatabase } from '../duckdb/open-database.ts';
import { name, text } from '../duckdb/quote.ts';
import { readValue, type Value } from '../duckdb/read-value.ts';
import { copyOf, scanOf } from '../duckdb/scan.ts';
import { toCell } from '../preview/to-cell.ts';
import { Unreadable } from '../preview/unreadable.ts';
import type { LentTables } from './lent-tables.ts';
import { type DroppedLine, nameMalformed, nameRejected } from './name-dropped.ts';
import { refuseOthers } from './read-only.ts';
import { RefusedQuery, sentenceOf } from './refused-query.ts';

const NAME_CHARS_MAX = 200;
/** Limit for all cells of a response; if there are many, each is truncated further. */
const ANSWER_CHARS_MAX = 4_000_000;
const DROPPED_SHOWN = 20;
/** Output file of an export. */
const RESULT = 'scratch/result';

export type Query = LentTables & { query: string } & (
    | { offset: number; limit: number }
    | { format: SqlFormat }
  );

/**
 * Runs the query and returns a page of rows, or writes all of them to a file. Throws RefusedQuery. The query
 * and the files are untrusted: run this confined.
 */
export async function answerQuery(asked: Query): Promise<SqlAnswer | null> {
  process.chdir(asked.folder);
  const files = asked.tables.flatMap((table) => table.files.map(({ as }) => as));
  const database = await openDatabase([...new Set(files)], [RESULT, ...files.map(copyOf)]);
  const timer = setTimeout(() => database.interrupt(), asked.seconds * 1000);
  const run = async (malformed: DroppedLine[]) => {
    const broken = await createViews(database, asked.tables, malformed.length > 0);
    return answerStatement(database, asked, malformed).catch((error: unknown) => {
      throw broken.get(missingTable(error)) ?? error;
    });
  };
  try {
    await refuseOthers(database, asked.query);
    return await run([]).catch(async (error: unknown) => {
      // DuckDB stops at the first malformed JSON line. Retry without malformed lines.
      const malformed = await nameMalformed(error, asked);
      if (malformed.length === 0) throw error;
      return run(malformed);
    });
  } catch (error) {
    if (error instanceof Unreadable) throw new RefusedQuery(error.message, { cause: error });
    const limits = { seconds: asked.seconds, megabytes: MEMORY_MB, folder: asked.folder };
    const sentence = sentenceOf(error, limits);
    throw sentence === null ? error : new RefusedQuery(sentence, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

async function answerStatement(
  database: DuckDBConnection,
  asked: Query,
  malformed: DroppedLine[],
): Promise<SqlAnswer | null> {
  if ('format' in asked) {
    const query = await writeAnew(database, asked.query);
    const options = asked.format === 'csv' ? 'FORMAT csv, HEADER' : 'FORMAT parquet, COMPRESSION zstd';
    await database.run(`COPY (${query}) TO ${text(RESULT)} (${options}, USE_TMP_FILE false)`);
    return null;
  }
  const page = await readPage(database, asked.query, asked);
  const dropped = [...malformed, ...(await nameRejected(database, asked))];
  return { ...page, dropped: dropped.slice(0, DROPPED_SHOWN), dropped_count: dropped.length };
}

/** Returns the query as DuckDB serialises it, so that it cannot end or comment out the surrounding SQL. */
async function writeAnew(database: DuckDBConnection, query: string): Promise<string> {
  const answered = await database.runAndReadAll(
    `SELECT json_deserialize_sql(json_serialize_sql(${text(query)}))`,
  );
  return String(answered.getRows()[0]?.[0]);
}

/** Skips unreadable tables and returns the errors by name: the query may not use them. */
async function createViews(
  database: DuckDBConnection,
  tables: LentTables['tables'],
  isLenient: boolean,
): Promise<Map<string, Error>> {
  const broken = new Map<string, Error>();
  for (const table of tables) {
    try {
      await createView(database, table, isLenient);
    } catch (error) {
      if (!(error instanceof Error) || error.message.startsWith('INTERRUPT')) throw error;
      broken.set(table.name, error);
    }
  }
  return broken;
}

/** Returns the name of the missing table from DuckDB's error message. */
function missingTable(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  return /^Catalog Error: Table with name (.+?) does not exist!/.exec(message)?.[1]?.toLowerCase() ?? '';
}

async function createView(
  database: DuckDBConnection,
  table: LentTables['tables'][number],
  isLenient: boolean,
): Promise<void> {
  const files = table.files.map(({ as }) => as);
  const scan = await scanOf(database, files, { lenient: isLenient });
  await database.run(`CREATE OR REPLACE VIEW ${name(table.name)} AS FROM ${scan}`);
  if (!isLenient || !scan.startsWith('read_json')) return;
  // DuckDB returns unreadable rows as all nulls.
  const columns = (await database.runAndReadAll(`DESCRIBE ${name(table.name)}`)).getRows();
  const isSomething = columns.map(([column]) => `${name(String(column))} IS NOT NULL`).join(' OR ');
  await database.run(`CREATE OR REPLACE VIEW ${name(table.name)} AS FROM ${scan} WHERE ${isSomething}`);
}

async function readPage(
  database: DuckDBConnection,
  query: string,
  { offset, limit }: { offset: number; limit: number },
): Promise<Pick<SqlAnswer, 'columns' | 'rows' | 'has_more'>> {
  const result = await database.stream(query);
  const types = result.columnTypes();
  const rows: Value[][] = [];
  let passed = 0;
  while (rows.length <= limit) {
    const chunk = await result.fetchChunk();
    if (!chunk || chunk.rowCount === 0) break;
    const from = Math.max(0, offset - passed);
    passed += chunk.rowCount;
    // Convert only the rows to show: the chunk before them may be large.
    for (let row = from; row < chunk.rowCount && rows.length <= limit; row += 1) {
      rows.push(chunk.convertRowValues(row, readValue));
    }
  }
  const cellChars = Math.floor(ANSWER_CHARS_MAX / Math.max(1, Math.min(rows.length, limit) * types.length));
  return {
    columns: result.columnNames().map((column, at) => ({
      name: column.slice(0, NAME_CHARS_MAX),
      type: String(types[at]).slice(0, NAME_CHARS_MAX),
    })),
    rows: rows.slice(0, limit).map((values) => values.map((value) => toCell(value, cellChars))),
    has_more: rows.length > limit,
  };
}
