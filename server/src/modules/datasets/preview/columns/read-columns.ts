import { createHash } from 'node:crypto';
import type { ColumnStatistics, FileColumns } from '@bakehouse/contract/data-files';
import { BIGINT, BOOLEAN, DOUBLE, type DuckDBConnection, DuckDBDataChunk, VARCHAR } from '@duckdb/node-api';
import {
  type DataFile,
  type LoadedTable,
  loadRows,
  loadTable,
  openDataFile,
  rowValues,
} from '../../duckdb/load-table.ts';
import { openDatabase, readValue } from '../../duckdb/open-database.ts';
import type { Profile } from '../../read-profile.ts';
import { isPicture } from '../pictures/read-pictures.ts';
import { NAME_CHARS_MAX } from '../read-preview.ts';
import { cut } from '../table.ts';
import { type ColumnSql, columnSql, type Kind } from './column-sql.ts';
import { countValues, VALUE_CHARS } from './count-values.ts';
import { measureColumns } from './measure-columns.ts';

const TYPES = [BOOLEAN, BOOLEAN, VARCHAR, DOUBLE, BIGINT, VARCHAR];
const LETTERS = ['f', 'z', 'k', 'n', 'l', 'x'];
const NOTHING: Cell = [false, true, null, null, null, null];

/** Maximum columns per query, because the aggregates of all of them are in memory at the same time. */
const COLUMNS_AT_ONCE = 50;
const CHUNK_ROWS = 2048;

/**
 * Returns statistics of a data file's columns over all rows. Throws Unreadable like the preview. The file is
 * untrusted: run this with limits.
 */
export async function readColumns(file: DataFile): Promise<FileColumns> {
  const database = await openDataFile(file);
  const table = await loadTable(database, file);
  try {
    const { from, kind, rowCount } = table;
    const { names, types } = table.columns;
    const columns = types.map((type, at) => columnSql(kind, `c${at}`, type));
    return await findPictures(
      database,
      table,
      await describe(database, { from, kind, isWhole: true, rowCount, names, columns }),
    );
  } catch (error) {
    if (!(table.kind === 'json' && file.profile && isOutOfMemory(error))) throw table.refusal(error);
  }
  const empty = await openDatabase([]);
  return describe(empty, { kind: 'json', ...(await tabulateCells(empty, file, file.profile)) });
}

/** True if DuckDB reached its own memory limit, which the process survives. */
function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Out of Memory Error');
}

type Described = Tabulated & Pick<LoadedTable, 'kind'>;

async function describe(database: DuckDBConnection, table: Described): Promise<FileColumns> {
  const all = table.columns;
  const columns: ColumnStatistics[] = [];
  let rows = table.rowCount ?? 0;
  for (let start = 0; start < all.length; start += COLUMNS_AT_ONCE) {
    const part = all.slice(start, start + COLUMNS_AT_ONCE);
    const measured = await measureColumns(database, table, part);
    rows = measured.rows;
    const counted = await countValues(database, { from: table.from, rows }, part, measured.columns);
    for (const [at, { nulls, filled, type, numbers, lengths }] of measured.columns.entries()) {
      const name = cut(table.names[start + at] ?? '', NAME_CHARS_MAX);
      columns.push({
        name,
        type,
        filled,
        nulls,
        numbers,
        lengths,
        ...(counted[at] as (typeof counted)[number]),
      });
    }
  }
  return { rows, is_whole: table.isWhole, columns };
}

/** Columns of bytes, or of objects with bytes, count as pictures if their first values are pictures. */
async function findPictures(
  database: DuckDBConnection,
  table: LoadedTable,
  described: FileColumns,
): Promise<FileColumns> {
  const columns: ColumnStatistics[] = [];
  for (const [at, column] of described.columns.entries()) {
    const mayBe = table.kind === 'typed' && (column.type === 'bytes' || column.type === 'object');
    const first = mayBe
      ? await database.runAndReadAll(`SELECT c${at} FROM ${table.from} WHERE c${at} IS NOT NULL LIMIT 1`)
      : null;
    const [value] = first?.convertRows(readValue)[0] ?? [];
    columns.push(isPicture(value) ? { ...column, type: 'picture', frequent: [] } : column);
  }
  return { ...described, columns };
}

/** The values of a cell that statistics need, in the order of `ColumnSql`. */
type Cell = [
  filled: boolean,
  isNull: boolean,
  kind: Kind | null,
  number: number | null,
  length: bigint | null,
  text: string | null,
];

type Tabulated = {
  from: string;
  names: string[];
  rowCount: number | null;
  isWhole: boolean;
  columns: ColumnSql[];
};

/**
 * Loads only the values that statistics need, and never a whole JSON cell. DuckDB parses thousands of rows at
 * the same time, and needs over ten times their size in memory, which is too much for long rows. Reads only
 * the rows that training's reader has written; of a large file, these are the first ones.
 */
async function tabulateCells(
  database: DuckDBConnection,
  file: DataFile,
  profile: Profile,
): Promise<Tabulated> {
  const { columns, kind, from } = loadRows(file, profile);
  const { names } = columns;
  const read: Cell[][] = [];
  const rows = await (await openDataFile(file)).stream(
    `SELECT ${names.map((_, at) => `c${at}`).join(', ')} FROM ${from}`,
  );
  for (;;) {
    const chunk = await rows.fetchChunk();
    if (!chunk || chunk.rowCount === 0) break;
    for (const cells of chunk.convertRows(readValue)) read.push(rowValues(kind, cells).map(toCell));
  }
  const width = Math.max(1, names.length);
  const parts = Array.from({ length: width }, (_, at) => LETTERS.map((letter) => `${letter}${at}`)).flat();
  const types = parts.map((_, at) => TYPES[at % TYPES.length] ?? VARCHAR);
  const cells = parts.map((part, at) => `${part} ${String(types[at])}`);
  await database.run(`CREATE TABLE cells (${cells.join(', ')})`);
  const appender = await database.createAppender('cells');
  for (let start = 0; start < read.length; start += CHUNK_ROWS) {
    const some = read.slice(start, start + CHUNK_ROWS);
    const chunk = DuckDBDataChunk.create(types, some.length);
    chunk.setColumns(
      parts.map((_, part) =>
        some.map((row) => (row[Math.floor(part / TYPES.length)] ?? NOTHING)[part % TYPES.length] ?? null),
      ),
    );
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
  return {
    from: 'cells',
    names,
    isWhole: profile.is_whole,
    rowCount: read.length,
    columns: names.map((_, at) => sqlOf(at)),
  };
}

function sqlOf(at: number): ColumnSql {
  return {
    ...{ filled: `f${at}`, isNull: `z${at}`, kind: `k${at}` },
    ...{ number: `n${at}`, length: `l${at}`, text: `x${at}` },
  };
}

function toCell(value: unknown): Cell {
  if (value === undefined || value === null) return NOTHING;
  if (typeof value === 'string')
    return [value.trim() !== '', false, 'text', null, BigInt(countCharacters(value)), shorten(value)];
  if (typeof value === 'boolean') return [true, false, 'boolean', null, null, String(value)];
  if (typeof value === 'number') return [true, false, 'number', value, null, String(value)];
  const text = shorten(JSON.stringify(value));
  if (Array.isArray(value)) return [true, false, 'list', null, BigInt(value.length), text];
  return [true, false, 'object', null, null, text];
}

/** Counts code points, because DuckDB counts a text's length in code points. */
function countCharacters(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

/** Replaces the end of a long value by its hash, so that different values stay different. */
function shorten(text: string): string {
  if (text.length <= VALUE_CHARS) return text;
  return `${text.slice(0, VALUE_CHARS)}…${createHash('sha256').update(text).digest('hex')}`;
}
