import type { FoundRows } from '@bakehouse/contract/data-files';
import { SNIFFED_ROWS } from '../format/recognise-format.ts';
import { ROWS_LOOKED_AT_MAX, readParquet } from '../read-parquet.ts';
import { endingOf, openTextTable, showRows, valuesOf } from '../read-preview.ts';
import { type Columns, isBroken, type Row, type Table } from '../table.ts';
import { Unreadable } from '../unreadable.ts';

/** Of a Parquet file the next rows are unpacked until so long has passed. */
const LOOK_MS = 4_000;

export type Search = {
  /** What stands somewhere in a cell, letter case aside. */
  text: string;
  /** The first row that is looked at. */
  offset: number;
  /** Rows at most; behind the last of them nothing more is looked for. */
  limit: number;
};

type File = { localPath: string; name: string; lookMs?: number };

type Found = { rows: Row[]; at: number[]; first: unknown[][]; firstBroken: number; read: number };

/**
 * Rows of a data file that have a text in one of the columns shown, from a row on as far as one look goes: to the end of
 * the first 64 MB of text, or some seconds of Parquet. Throws Unreadable as the preview does. The file is not trusted: run
 * it with limits.
 */
export async function readFound(file: File & Search): Promise<FoundRows> {
  return endingOf(file.name) === 'parquet' ? findInParquet(file) : findInText(file);
}

/** A text is read from its beginning, whatever is looked at of it. */
async function findInText(file: File & Search): Promise<FoundRows> {
  const table = await openTextTable(file);
  const found = nothing();
  try {
    await find(table.rows, file, found);
  } catch (error) {
    if (!(error instanceof Unreadable && error.param === 'offset')) throw error;
    return { ...show(table.columns, found), is_whole: false, next_offset: null };
  }
  const isWhole = found.rows.length < file.limit;
  return { ...show(table.columns, found), is_whole: isWhole, next_offset: isWhole ? null : found.read };
}

async function findInParquet({ lookMs = LOOK_MS, ...file }: File & Search): Promise<FoundRows> {
  const look = (offset: number, limit: number) => readParquet(file.localPath, file.name, { offset, limit });
  const { totalRows, ...beginning } = await look(0, SNIFFED_ROWS);
  const found = { ...nothing(), read: Math.min(file.offset, totalRows) };
  const until = performance.now() + lookMs;
  let isWhole: boolean;
  do {
    const before = found.read;
    const { rows } = await look(before, ROWS_LOOKED_AT_MAX);
    await find(rows, file, found);
    // A file may have fewer rows than it says.
    isWhole = found.read === totalRows || found.read === before;
  } while (!isWhole && found.rows.length < file.limit && performance.now() < until);
  return {
    ...show(beginning.columns, { ...found, first: await valuesOf(beginning) }),
    is_whole: isWhole,
    next_offset: isWhole ? null : found.read,
  };
}

const nothing = (): Found => ({ rows: [], at: [], first: [], firstBroken: 0, read: 0 });

/** Adds what is found in the next rows, until there is as much of it as was asked for. */
async function find(rows: Table['rows'], { text, offset, limit }: Search, found: Found): Promise<void> {
  const wanted = text.toLowerCase();
  for await (const item of rows) {
    const isFirst = found.first.length + found.firstBroken < SNIFFED_ROWS;
    if (isBroken(item)) {
      if (isFirst) found.firstBroken += 1;
      continue;
    }
    if (isFirst) found.first.push(item.values);
    if (found.read >= offset && item.values.some((value) => contains(value, wanted))) {
      found.rows.push(item);
      found.at.push(found.read);
    }
    found.read += 1;
    if (found.rows.length === limit) return;
  }
}

function show(columns: Columns, { rows, at, first, firstBroken, read }: Found) {
  const values = rows.map((row) => row.values);
  return { ...showRows(columns, values, first, firstBroken), at, rows_read: read };
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
