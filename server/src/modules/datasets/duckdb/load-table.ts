import { type DuckDBConnection, DuckDBDataChunk, type DuckDBType, VARCHAR } from '@duckdb/node-api';
import { extensionOf, unpackedName } from '../data-file.ts';
import { SNIFFED_ROWS } from '../preview/format/recognise-format.ts';
import { parseExactly } from '../preview/read-json.ts';
import { openTextTable } from '../preview/read-text.ts';
import { COLUMNS_MAX, isBroken, isTooDeep, Unreadable } from '../preview/table.ts';
import { hasMoreThan } from '../preview/unpack.ts';
import { list, name as named, readValue, text } from './open-database.ts';
import { scanText } from './scan.ts';

/** Our own readers parse text files up to this size, so rows match training exactly. */
const EXACT_BYTES_MAX = 16 * 1024 * 1024;
/** Cells of such a file that are loaded into a table. */
const CELLS_MAX = 4_000_000;
/** Leading rows of a larger file that determine its columns. */
const HEAD_ROWS = 10_000;
export const CHUNK_ROWS = 2048;
/** Characters of a text in a page of rows; far more than the preview shows. */
const TEXT_CHARS_MAX = 100_000;

/**
 * `text`: csv and lines; `json`: each cell is encoded as JSON, a missing cell is null; `typed`: Parquet
 * types.
 */
export type CellKind = 'text' | 'json' | 'typed';

/**
 * A data file in DuckDB: `from` returns its rows in order, with the zero-based row number as `r` and its
 * columns as c0, c1, ...
 */
export type LoadedTable = {
  from: string;
  kind: CellKind;
  /** The columns to show, with their types, and the total number of columns. */
  columns: { names: string[]; types: DuckDBType[]; count: number };
  /** Null if only a full read would tell. */
  rowCount: number | null;
  /** True if the table holds all rows of the file. */
  isWhole: boolean;
  /** Unreadable rows among the first rows, for recognising the format. */
  firstBroken: number;
  /** Converts a DuckDB read error. */
  refusal: (error: unknown) => Unreadable;
};

/**
 * Opens a data file for queries; loads the rows of a small text file into the table `loaded`. Throws
 * Unreadable like the preview. The file is untrusted: run this confined.
 */
export async function loadTable(
  database: DuckDBConnection,
  file: { localPath: string; name: string },
): Promise<LoadedTable> {
  if (extensionOf(file.name) === 'parquet') return loadParquet(database, file);
  return (await hasMoreThan(file, EXACT_BYTES_MAX)) ? loadLarge(file) : loadExactly(database, file);
}

/** Returns the values of one row in the form that the readers return. */
export function rowValues(kind: CellKind, cells: readonly unknown[]): unknown[] {
  return kind === 'json'
    ? cells.map((cell): unknown => (typeof cell === 'string' ? parseExactly(cell) : undefined))
    : [...cells];
}

/** `c0, c1, ...` */
export function columnList({ columns: { names } }: LoadedTable): string {
  return names.map((_, at) => `c${at}`).join(', ');
}

async function loadParquet(
  database: DuckDBConnection,
  { localPath, name }: { localPath: string; name: string },
): Promise<LoadedTable> {
  const path = text(localPath);
  try {
    const names = await parquetColumns(database, path, name);
    const shown = names.slice(0, COLUMNS_MAX);
    const picked = shown.map((column, at) => `${named(column)} AS c${at}`).join(', ');
    const from = `(SELECT file_row_number AS r, ${picked} FROM read_parquet(${path}, file_row_number = true))`;
    const described = await database.prepare(`FROM ${from}`);
    const counted = await database.runAndReadAll(`SELECT num_rows FROM parquet_file_metadata(${path})`);
    return {
      from,
      kind: 'typed',
      columns: {
        names: shown,
        types: shown.map((_, at) => described.columnType(at + 1)),
        count: names.length,
      },
      rowCount: Number(counted.getRows()[0]?.[0] ?? 0),
      isWhole: true,
      firstBroken: 0,
      refusal: (error) => unreadable(name, 'Parquet', error),
    };
  } catch (cause) {
    if (cause instanceof Unreadable) throw cause;
    throw unreadable(name, 'Parquet', cause);
  }
}

/** Returns the error for a file that DuckDB reports as damaged or unsupported. */
function unreadable(name: string, kind: string, cause: unknown): Unreadable {
  const [sentence = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  // DuckDB's message contains a local path; the user knows the file by another name.
  const reason = sentence.replace(/^[A-Z][A-Za-z ]* Error: /, '').replaceAll(/ ?["'][^"']*\/[^"']*["']/g, '');
  return new Unreadable(`${name} cannot be read as ${kind}: ${reason}`, { cause });
}

/** Returns the column names as in the file: DuckDB would rename duplicates. */
async function parquetColumns(database: DuckDBConnection, path: string, name: string): Promise<string[]> {
  const schema = await database.runAndReadAll(`SELECT name, num_children FROM parquet_schema(${path})`);
  const names: string[] = [];
  let inner = 0;
  for (const [column, children] of schema.getRows().slice(1)) {
    if (inner === 0) names.push(String(column));
    else inner -= 1;
    inner += Number(children ?? 0);
  }
  const twin = names.find((column, at) => names.indexOf(column) < at);
  if (twin !== undefined) throw new Unreadable(`${name} names the column '${twin}' twice.`);
  return names;
}

/** Reads a text file with our own reader, so that its rows equal the rows in training. */
async function loadExactly(
  database: DuckDBConnection,
  file: { localPath: string; name: string },
): Promise<LoadedTable> {
  const { columns, rows } = await openTextTable(file);
  const isJson = ['json', 'jsonl'].includes(extensionOf(unpackedName(file.name)));
  const read: unknown[][] = [];
  let cells = 0;
  let broken = 0;
  let firstBroken = 0;
  let isWhole = true;
  for await (const item of rows) {
    if (isBroken(item)) {
      if (read.length + broken < SNIFFED_ROWS) firstBroken += 1;
      broken += 1;
      continue;
    }
    if (cells >= CELLS_MAX) {
      isWhole = false;
      break;
    }
    cells += item.values.length;
    read.push(isJson ? item.values.map(toJsonCell) : item.values);
  }
  const width = Math.max(1, columns.shown.length);
  const definitions = Array.from({ length: width }, (_, at) => `c${at} VARCHAR`).join(', ');
  await database.run(`CREATE TABLE loaded (${definitions})`);
  await append(database, read, width);
  return {
    from: '(SELECT rowid AS r, * FROM loaded)',
    kind: isJson ? 'json' : 'text',
    columns: { names: columns.shown, types: columns.shown.map(() => VARCHAR), count: columns.count },
    rowCount: read.length,
    isWhole,
    firstBroken,
    refusal: (error) => unreadable(file.name, 'a table', error),
  };
}

function toJsonCell(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

async function append(database: DuckDBConnection, rows: readonly unknown[][], width: number): Promise<void> {
  const appender = await database.createAppender('loaded');
  const types = Array.from({ length: width }, () => VARCHAR);
  for (let start = 0; start < rows.length; start += CHUNK_ROWS) {
    const part = rows.slice(start, start + CHUNK_ROWS);
    const chunk = DuckDBDataChunk.create(types, part.length);
    chunk.setColumns(
      types.map((_, column) => part.map((row) => (row[column] as string | null | undefined) ?? null)),
    );
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
}

/** Does not load a large text file: DuckDB reads it per query. Skips unreadable rows, like training. */
async function loadLarge(file: { localPath: string; name: string }): Promise<LoadedTable> {
  const { columns, rows } = await openTextTable(file);
  let looked = 0;
  let firstBroken = 0;
  // Later JSON rows may add columns.
  try {
    for await (const item of rows) {
      if (isBroken(item) && looked < SNIFFED_ROWS) firstBroken += 1;
      if ((looked += 1) === HEAD_ROWS) break;
    }
  } catch (error) {
    // Very long rows reach the byte limit early; use the rows read until then.
    if (!isTooDeep(error)) throw error;
  }
  const { kind, scan, cell } = await scanText(file, columns.count);
  const picked = columns.shown.map((column, at) => `${cell(column, at)} AS c${at}`);
  return {
    from: `(SELECT row_number() OVER () - 1 AS r, ${list(picked).slice(1, -1)} FROM ${scan})`,
    kind,
    columns: { names: columns.shown, types: columns.shown.map(() => VARCHAR), count: columns.count },
    rowCount: null,
    isWhole: true,
    firstBroken,
    refusal: (error) => unreadable(file.name, kind === 'json' ? 'JSON' : 'text', error),
  };
}

/** Returns the rows from `offset` to `offset + limit`, each with its row number. */
export async function readRows(
  database: DuckDBConnection,
  table: LoadedTable,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ at: number; values: unknown[] }[]> {
  const columns = table.columns.names.map((_, at) => {
    // Truncates long texts to save memory, except for a single row.
    return table.kind === 'text' && limit > 1 ? `left(c${at}, ${TEXT_CHARS_MAX})` : `c${at}`;
  });
  // Filters by row number: OFFSET would hold all earlier rows in memory if they are long.
  const place = `WHERE r >= ${offset} LIMIT ${limit}`;
  const found = await database
    .runAndReadAll(`SELECT ${['r', ...columns].join(', ')} FROM ${table.from} ${place}`)
    .catch((error: unknown) => {
      throw table.refusal(error);
    });
  return found.convertRows(readValue).map(([at, ...cells]) => ({
    at: Number(at),
    values: rowValues(table.kind, cells),
  }));
}
