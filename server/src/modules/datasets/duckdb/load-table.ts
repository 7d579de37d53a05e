import { join } from 'node:path';
import { type DuckDBConnection, type DuckDBType, VARCHAR } from '@duckdb/node-api';
import { extensionOf, ROWS_FILE, unpackedName } from '../data-file.ts';
import { parseExactly } from '../preview/exact-json.ts';
import { COLUMNS_MAX, Unreadable } from '../preview/table.ts';
import type { Profile } from '../read-profile.ts';
import { list, name as named, openDatabase, readValue, text } from './open-database.ts';
import { scanText } from './scan.ts';

/** Characters of a text in a page of rows; far more than the preview shows. */
const TEXT_CHARS_MAX = 100_000;

/** A data file in the folder of a confined program. */
export type DataFile = {
  localPath: string;
  name: string;
  folder: string;
  /** Null only for Parquet. */
  profile: Profile | null;
};

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
  /** Converts a DuckDB read error. */
  refusal: (error: unknown) => Unreadable;
};

/** Opens a database that may read the file and its rows. */
export function openDataFile(file: DataFile): Promise<DuckDBConnection> {
  return openDatabase([file.localPath, rowsPath(file)]);
}

/**
 * Opens a data file for queries: Parquet itself, the rows that training's reader wrote, or a large text file.
 * Throws Unreadable like the preview. The file is untrusted: run this confined.
 */
export async function loadTable(database: DuckDBConnection, file: DataFile): Promise<LoadedTable> {
  if (!file.profile || extensionOf(file.name) === 'parquet') return loadParquet(database, file);
  return file.profile.is_whole ? loadRows(file, file.profile) : loadLarge(file, file.profile);
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

/** Returns the rows that training's reader wrote: of a large file only the first ones. */
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

/** Does not load a large text file: DuckDB reads it per query. Skips unreadable rows, like training. */
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
