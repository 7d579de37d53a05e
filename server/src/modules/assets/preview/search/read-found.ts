import type { FoundRows } from '@bakehouse/contract/data-files';
import { ROWS_LOOKED_AT_MAX, readParquet } from '../read-parquet.ts';
import { endingOf, openTextTable, showRows } from '../read-preview.ts';
import { SNIFFED_ROWS } from '../recognise-format.ts';
import { isBroken, type Row, type Table } from '../table.ts';
import { Unreadable } from '../unreadable.ts';

export type Search = {
  /** What stands somewhere in a cell, letter case aside. */
  text: string;
  /** Rows at most; behind the last of them nothing more is looked for. */
  limit: number;
};

type Found = { rows: Row[]; at: number[]; first: unknown[][]; read: number; isWhole: boolean };

/**
 * The first rows of a data file that have a text in one of the columns shown, as far as one look goes: 64 MB of text, or
 * 20,000 rows of Parquet. Throws Unreadable as the preview does. The file is not trusted: run it with limits.
 */
export async function readFound(file: { localPath: string; name: string } & Search): Promise<FoundRows> {
  if (endingOf(file.name) !== 'parquet') return find(await openTextTable(file), file);
  const look = { offset: 0, limit: ROWS_LOOKED_AT_MAX };
  const { totalRows, ...table } = await readParquet(file.localPath, file.name, look);
  const found = await find(table, file);
  return { ...found, is_whole: found.is_whole && found.rows_read === totalRows };
}

async function find(table: Table, { text, limit }: Search): Promise<FoundRows> {
  const wanted = text.toLowerCase();
  const found: Found = { rows: [], at: [], first: [], read: 0, isWhole: false };
  try {
    for await (const item of table.rows) {
      if (isBroken(item)) continue;
      if (found.read < SNIFFED_ROWS) found.first.push(item.values);
      if (item.values.some((value) => contains(value, wanted))) {
        found.rows.push(item);
        found.at.push(found.read);
      }
      found.read += 1;
      if (found.rows.length === limit) break;
    }
    found.isWhole = found.rows.length < limit;
  } catch (error) {
    // The end of what one look may read.
    if (!(error instanceof Unreadable && error.param === 'offset')) throw error;
  }
  return {
    ...showRows(
      table.columns,
      found.rows.map(({ values }) => values),
      found.first,
    ),
    at: found.at,
    rows_read: found.read,
    is_whole: found.isWhole,
  };
}

/** In lists and objects whatever stands in them is looked at, as the words of a conversation. */
function contains(value: unknown, wanted: string): boolean {
  switch (typeof value) {
    case 'string':
      return value.toLowerCase().includes(wanted);
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value).includes(wanted);
    case 'object':
      if (value === null || value instanceof Uint8Array) return false;
      if (value instanceof Date) return value.toISOString().toLowerCase().includes(wanted);
      return Object.values(value).some((inner) => contains(inner, wanted));
    default:
      return false;
  }
}
