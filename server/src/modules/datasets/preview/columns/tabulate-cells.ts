import { createHash } from 'node:crypto';
import { BIGINT, BOOLEAN, DOUBLE, type DuckDBConnection, DuckDBDataChunk, VARCHAR } from '@duckdb/node-api';
import { CHUNK_ROWS } from '../../duckdb/load-table.ts';
import { openTextTable } from '../open-text-table.ts';
import { isBroken } from '../table.ts';
import { isTooDeep } from '../unreadable.ts';
import type { ColumnSql, Kind } from './column-sql.ts';
import { VALUE_CHARS } from './count-values.ts';

/** Cell values that statistics need, as in `columnSql`. */
type Cell = [
  filled: boolean,
  isNull: boolean,
  kind: Kind | null,
  number: number | null,
  length: bigint | null,
  text: string | null,
];
const TYPES = [BOOLEAN, BOOLEAN, VARCHAR, DOUBLE, BIGINT, VARCHAR];
const LETTERS = ['f', 'z', 'k', 'n', 'l', 'x'];

export type Tabulated = {
  from: string;
  names: string[];
  rowCount: number | null;
  isWhole: boolean;
  columns: ColumnSql[];
};

/**
 * Loads only the cell values that statistics need, never a whole JSON cell: DuckDB parses some thousand rows
 * concurrently with over ten times their size in memory, which is too much for long rows. Reads only the
 * first rows of a large file, up to the limit for text files.
 */
export async function tabulateCells(
  database: DuckDBConnection,
  file: { localPath: string; name: string },
): Promise<Tabulated> {
  const { columns, rows } = await openTextTable(file);
  const read: Cell[][] = [];
  let isWhole = true;
  try {
    for await (const item of rows) if (!isBroken(item)) read.push(item.values.map(toCell));
  } catch (error) {
    if (!isTooDeep(error)) throw error;
    isWhole = false;
  }
  const names = columns.shown;
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
  return { from: 'cells', names, isWhole, rowCount: read.length, columns: names.map((_, at) => sqlOf(at)) };
}

const NOTHING: Cell = [false, true, null, null, null, null];

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

/** Counts code points, like DuckDB. */
function countCharacters(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

/** Replaces the end of a long value with its hash, so that values stay distinct. */
function shorten(text: string): string {
  if (text.length <= VALUE_CHARS) return text;
  return `${text.slice(0, VALUE_CHARS)}…${createHash('sha256').update(text).digest('hex')}`;
}
