import { join } from 'node:path';
import { type DuckDBConnection, type DuckDBType, VARCHAR } from '@duckdb/node-api';
import { extensionOf, ROWS_FILE, unpackedName } from '../data-file.ts';
import { parseExactly } from '../preview/exact-json.ts';
import { COLUMNS_MAX, Unreadable } from '../preview/table.ts';
import type { Profile } from '../read-profile.ts';
import { list, name as named, openDatabase, readValue, text } from './open-database.ts';
import { scanText } from './scan.ts';

/** Maximum characters of a text in a page of rows. The preview shows far fewer. */
const TEXT_CHARS_MAX = 100_000;

/** A data file in the folder of a confined program. */
export type DataFile = {
  localPath: string;
  name: string;
  folder: string;
  /** Null only if the file is Parquet. */
  profile: Profile | null;
};

/**
 * How cells are represented. `text`: text, for csv and plain lines. `json`: text in JSON format; null if the
 * cell is missing. `typed`: values with Parquet's types.
 */
export type CellKind = 'text' | 'json' | 'typed';

/**
 * A data file in DuckDB. `from` is SQL for its rows, in order. Its columns are named c0, c1, …, and `r` is
 * the row number, starting at 0.
 */
export type LoadedTable = {
  from: string;
  kind: CellKind;
  /** The columns to show, with their types, and the total number of columns. */
  columns: { names: string[]; types: DuckDBType[]; count: number };
  /** Null if the whole file would have to be read to count. */
  rowCount: number | null;
  /** Converts a DuckDB read error. */
  refusal: (error: unknown) => Unreadable;
};

/** Opens a database that may read the file and its rows. */
export function openDataFile(file: DataFile): Promise<DuckDBConnection> {
  return openDatabase([file.localPath, rowsPath(file)]);
}

/**
 * Opens a data file for queries: a Parquet file directly, a large text file directly, and other files through
 * the rows that training's reader has written. Throws Unreadable like the preview. The file is untrusted, so
 * run this in a confined process.
 */
export async function loadTable(database: DuckDBConnection, file: DataFile): Promise<LoadedTable> {
  if (!file.profile || extensionOf(file.name) === 'parquet') return loadParquet(database, file);
  return file.profile.is_whole ? loadRows(file, file.profile) : loadLarge(file, file.profile);
}

/** Returns the values of one row as JSON values. */
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
  // DuckDB's message contains a local path, which the user does not know.
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

/** Returns the rows that training's reader has written. Of a large file, these are only the first ones. */
export function loadRows(file: DataFile, profile: Profile): LoadedTable {
  const columns = profile.columns.map((_, at) => `c${at}`);
  return {
    from: `(SELECT ${['file_row_number AS r', ...columns].join(', ')} FROM read_parquet(${text(rowsPath(file))}, file_row_number = true))`,
    kind: ['json', 'jsonl'].includes(extensionOf(unpackedName(file.name))) ? 'json' : 'text',
    columns: columnsOf(profile),
    rowCount: profile.rows_written,
    refusal: (error) => unreadable(file.name, 'a table', error),
  };
}

function rowsPath({ folder }: DataFile): string {
  return join(folder, ROWS_FILE);
}

function columnsOf({ columns, column_count }: Profile): LoadedTable['columns'] {
  return { names: columns, types: columns.map(() => VARCHAR), count: column_count };
}

/**
 * Returns a large text file, which DuckDB reads again for each query instead of loading it. Skips unreadable
 * rows, like training.
 */
async function loadLarge(file: DataFile, profile: Profile): Promise<LoadedTable> {
  const { kind, scan, cell } = await scanText(file, profile);
  const picked = profile.columns.map((column, at) => `${cell(column, at)} AS c${at}`);
  return {
    from: `(SELECT row_number() OVER () - 1 AS r, ${list(picked).slice(1, -1)} FROM ${scan})`,
    kind,
    columns: columnsOf(profile),
    rowCount: null,
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
    // Truncate long texts to save memory. A single row is returned in full.
    return table.kind === 'text' && limit > 1 ? `left(c${at}, ${TEXT_CHARS_MAX})` : `c${at}`;
  });
  // Filter by row number instead of OFFSET: with long rows, OFFSET would keep all earlier rows in memory.
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
