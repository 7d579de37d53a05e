import type { SqlAnswer, SqlFormat } from '@bakehouse/contract/sql';
import type { DuckDBConnection } from '@duckdb/node-api';
import { MEMORY_MB, name, openDatabase, readValue, text, type Value } from '../duckdb/open-database.ts';
import { copyOf, scanOf } from '../duckdb/scan.ts';
import { toCell, Unreadable } from '../preview/table.ts';
import type { Profile } from '../read-profile.ts';
import { assertReadOnlyQuery } from './read-only.ts';
import { RejectedQuery, sentenceOf } from './rejected-query.ts';

/** Maximum unreadable lines to return. A query may encounter any number of them. */
const DROPPED_MAX = 10_000;

const NAME_CHARS_MAX = 200;

/**
 * Maximum characters of all cells of a response together. If there are many cells, each is truncated further.
 */
const ANSWER_CHARS_MAX = 4_000_000;

/** Name of an export's output file. */
const RESULT = 'scratch/result';

export type Query = MountedTables & { query: string } & (
    | { offset: number; limit: number }
    | { format: SqlFormat }
  );

/** A page of rows. `dropped` are the unreadable lines, numbered as DuckDB counts them. */
export type QueryAnswer = Omit<SqlAnswer, 'dropped_count'> & {
  /** Paths of files with unreadable rows. */
  skipped: string[];
};

/**
 * Runs the query and returns a page of rows, or writes all of them to a file. Throws RejectedQuery. The query
 * and the files are untrusted: run this confined.
 */
export async function answerQuery(asked: Query): Promise<QueryAnswer | null> {
  process.chdir(asked.folder);
  const files = asked.tables.flatMap((table) => table.files.map(({ as }) => as));
  const database = await openDatabase([...new Set(files)], [RESULT, ...files.map(copyOf)]);
  const timer = setTimeout(() => database.interrupt(), asked.seconds * 1000);
  const run = async (malformed: Skipped) => {
    const broken = await createViews(database, asked.tables, malformed.files.length > 0);
    return answerStatement(database, asked, malformed).catch((error: unknown) => {
      throw broken.get(missingTable(error)) ?? error;
    });
  };
  try {
    await assertReadOnlyQuery(database, asked.query);
    return await run({ files: [], lines: [] }).catch((error: unknown) => {
      // DuckDB stops at the first malformed JSON line. Run the query again and skip malformed lines.
      const malformed = findMalformed(error, asked);
      if (malformed.files.length === 0) throw error;
      return run(malformed);
    });
  } catch (error) {
    if (error instanceof Unreadable) throw new RejectedQuery(error.message, { cause: error });
    const limits = { seconds: asked.seconds, megabytes: MEMORY_MB, folder: asked.folder };
    const sentence = sentenceOf(error, limits);
    throw sentence === null ? error : new RejectedQuery(sentence, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

async function answerStatement(
  database: DuckDBConnection,
  asked: Query,
  malformed: Skipped,
): Promise<QueryAnswer | null> {
  if ('format' in asked) {
    const query = await writeAnew(database, asked.query);
    const options = asked.format === 'csv' ? 'FORMAT csv, HEADER' : 'FORMAT parquet, COMPRESSION zstd';
    await database.run(`COPY (${query}) TO ${text(RESULT)} (${options}, USE_TMP_FILE false)`);
    return null;
  }
  const page = await readPage(database, asked.query, asked);
  const rejected = await findRejected(database);
  const paths = new Map(filesOf(asked).map(({ as, path }) => [as, path]));
  const named = (as: string) => paths.get(as) ?? as;
  return {
    ...page,
    dropped: [...malformed.lines, ...rejected].map((line) => ({ ...line, path: named(line.path) })),
    skipped: [...new Set([...malformed.files, ...rejected.map((line) => line.path)])].map(named),
  };
}

/**
 * Returns the query as DuckDB prints it after parsing. It then cannot end or comment out the SQL around it.
 */
async function writeAnew(database: DuckDBConnection, query: string): Promise<string> {
  const answered = await database.runAndReadAll(
    `SELECT json_deserialize_sql(json_serialize_sql(${text(query)}))`,
  );
  return String(answered.getRows()[0]?.[0]);
}

/**
 * Creates a view for each table. If a table cannot be read, stores its error instead of throwing, because the
 * query may not use it. Returns the errors by table name.
 */
async function createViews(
  database: DuckDBConnection,
  tables: MountedTables['tables'],
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
  table: MountedTables['tables'][number],
  isLenient: boolean,
): Promise<void> {
  const files = table.files.map(({ as }) => as);
  const scan = await scanOf(database, files, { lenient: isLenient, dialect: table.dialect });
  await database.run(`CREATE OR REPLACE VIEW ${name(table.name)} AS FROM ${scan}`);
  if (!isLenient || !scan.startsWith('read_json')) return;
  // DuckDB returns an unreadable row as nulls only, so leave out such rows.
  const columns = (await database.runAndReadAll(`DESCRIBE ${name(table.name)}`)).getRows();
  const isSomething = columns.map(([column]) => `${name(String(column))} IS NOT NULL`).join(' OR ');
  await database.run(`CREATE OR REPLACE VIEW ${name(table.name)} AS FROM ${scan} WHERE ${isSomething}`);
}

async function readPage(
  database: DuckDBConnection,
  query: string,
  { offset, limit }: { offset: number; limit: number },
): Promise<Pick<QueryAnswer, 'columns' | 'rows' | 'has_more'>> {
  const result = await database.stream(query);
  const types = result.columnTypes();
  const rows: Value[][] = [];
  let passed = 0;
  while (rows.length <= limit) {
    const chunk = await result.fetchChunk();
    if (!chunk || chunk.rowCount === 0) break;
    const from = Math.max(0, offset - passed);
    passed += chunk.rowCount;
    // Convert only the rows of the page, because the rows before them may be large.
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

/**
 * Files in which unreadable rows were skipped, by their names in the folder, and the skipped lines that
 * DuckDB reports.
 */
type Skipped = { files: string[]; lines: QueryAnswer['dropped'] };

type LentFile = MountedTables['tables'][number]['files'][number];

/** Returns the csv lines that DuckDB has skipped in the part of the files that the query has read. */
async function findRejected(database: DuckDBConnection): Promise<Skipped['lines']> {
  const rejected = await database
    .runAndReadAll(
      `SELECT file_path, line, first(error_message) FROM reject_errors JOIN reject_scans USING (scan_id, file_id)
       GROUP BY ALL ORDER BY ALL LIMIT ${DROPPED_MAX}`,
    )
    .catch(() => null);
  return (rejected?.getRows() ?? []).map(([file, line, reason]) => ({
    path: String(file),
    line: Number(line),
    reason: reasonOf(String(reason)),
  }));
}

/**
 * Returns the malformed JSON line that the error reports, and the files in which malformed lines must be
 * skipped.
 */
function findMalformed(error: unknown, lent: MountedTables): Skipped {
  const found =
    /^Invalid Input Error: (?:Malformed JSON|JSON transform error) in file "([^"]*)",? .*?in line (\d+):? ?(.*)/.exec(
      error instanceof Error ? error.message : '',
    );
  if (!found) return { files: [], lines: [] };
  const [, file = '', line, reason = ''] = found;
  return {
    files: filesOf(lent)
      .map(({ as }) => as)
      .filter((as) => as === file || /\.(jsonl|ndjson|jsonlines)(\.gz)?$/i.test(as)),
    lines: [{ path: file, line: Number(line), reason: `not JSON: ${reason.replace(/[.\s]+$/, '')}` }],
  };
}

function filesOf({ tables }: MountedTables): LentFile[] {
  return [...new Map(tables.flatMap(({ files }) => files).map((file) => [file.as, file])).values()];
}

function reasonOf(message: string): string {
  const [, wanted, found] = /^Expected Number of Columns: (\d+) Found: (\d+)/.exec(message) ?? [];
  if (found !== undefined) return `${found} ${found === '1' ? 'field' : 'fields'} instead of ${wanted}`;
  return message.split('\n')[0] ?? '';
}

/** The files of tables, in one folder. */
type MountedTables = {
  folder: string;
  /** Maximum duration of the query in seconds. */
  seconds: number;
  /** The files of each table. `as` is a file's name in the folder, `path` its path in the dataset. */
  tables: { name: string; dialect: Profile['dialect']; files: { as: string; path: string }[] }[];
};
