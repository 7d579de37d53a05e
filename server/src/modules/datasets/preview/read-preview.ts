import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { cell, filePreview } from '@bakehouse/contract/assets';
import type * as z from 'zod';
import { isDialogue, readConversation } from './conversation.ts';
import { decodeText } from './decode-text.ts';
import { describeShape } from './format/describe-shape.ts';
import { recogniseFormat, SNIFFED_ROWS } from './format/recognise-format.ts';
import { readCsv } from './read-csv.ts';
import { readJson, readJsonLines } from './read-json.ts';
import { readParquet } from './read-parquet.ts';
import { readText } from './read-text.ts';
import { type Columns, cut, isBroken, type Table } from './table.ts';
import { Unreadable } from './unreadable.ts';

/** Files up to this size are read to their end, so that rows and broken rows are counted. */
const COUNT_BYTES_MAX = 16 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;
const BROKEN_MAX = 100;
export const NAME_CHARS_MAX = 200;
const CELL_CHARS_MAX = 2_000;
/** All cells of an answer together: many of them are cut shorter. */
const PAGE_CHARS_MAX = 2_000_000;
const WHOLE_ROW_CHARS_MAX = 1_000_000;
/** Endings that stand for another one, those of packed files, and those of workbooks; `data/rows.py` of the runtime has the same. */
const ALIASES = new Map([
  ['ndjson', 'jsonl'],
  ['jsonlines', 'jsonl'],
  ['md', 'txt'],
]);
const PACKED = new Set(['gz', 'zip', 'zst', 'bz2', 'xz', '7z', 'tar', 'tgz']);
const WORKBOOKS = new Set(['xlsx', 'xls', 'xlsm', 'ods', 'numbers']);

export type Preview = z.infer<typeof filePreview>;
export type Page = { offset: number; limit: number };
type Cell = z.infer<typeof cell>;

/**
 * Some rows of a data file, read as training reads it; only as much of the file as that takes, and
 * no more of it than a screen can show. Throws Unreadable for other kinds of file and for what
 * cannot be read as the kind that its name says. The file is not trusted: run it with limits.
 */
export async function readPreview(file: { localPath: string; name: string } & Page): Promise<Preview> {
  if (endingOf(file.name) === 'parquet') {
    const { totalRows, ...table } = await readParquet(file.localPath, file.name, file);
    const first = await readParquet(file.localPath, file.name, { offset: 0, limit: SNIFFED_ROWS });
    const page = await readPage(
      path.basename(file.name),
      table,
      { offset: 0, limit: file.limit },
      true,
      await valuesOf(first),
    );
    return { ...page, total_rows: totalRows };
  }
  const { size } = await stat(file.localPath);
  return readPage(path.basename(file.name), await openTextTable(file), file, size <= COUNT_BYTES_MAX);
}

/** The rows of a text file by its ending. Throws Unreadable for other kinds of file. */
export async function openTextTable({
  localPath,
  name,
}: {
  localPath: string;
  name: string;
}): Promise<Table> {
  const chunks = decodeText(createReadStream(localPath, { highWaterMark: CHUNK_BYTES }), name);
  switch (endingOf(name)) {
    case 'csv':
      return readCsv(chunks, name);
    case 'tsv':
      return readCsv(chunks, name, '\t');
    case 'jsonl':
      return readJsonLines(chunks);
    case 'json':
      return readJson(chunks, name);
    case 'txt':
      return readText(chunks);
    default:
      if (PACKED.has(endingOf(name))) throw new Unreadable(`${name} is packed: unpack it first.`);
      if (WORKBOOKS.has(endingOf(name)))
        throw new Unreadable(`${name} is a workbook: save its sheet as CSV.`);
      throw new Unreadable('Rows can be shown of csv, jsonl, json, txt and parquet files');
  }
}

/** The rows that can be read. */
export async function valuesOf({ rows }: Table): Promise<unknown[][]> {
  const values: unknown[][] = [];
  for await (const item of rows) if (!isBroken(item)) values.push(item.values);
  return values;
}

/**
 * Collects one page; goes on to the end of the table only to count. `known` are the first rows of the
 * file, where the table does not begin with them: by them the format is recognised.
 */
async function readPage(
  name: string,
  { columns, rows }: Table,
  page: Page,
  toTheEnd: boolean,
  known?: unknown[][],
): Promise<Preview> {
  const values: unknown[][] = [];
  const first: unknown[][] = [];
  const broken: Preview['broken'] = [];
  let brokenCount = 0;
  let count = 0;
  let firstBroken = 0;
  let isCounted = true;
  for await (const item of rows) {
    if (isBroken(item)) {
      if (broken.length < BROKEN_MAX) broken.push(item);
      if (count + brokenCount < SNIFFED_ROWS) firstBroken += 1;
      brokenCount += 1;
      continue;
    }
    if (count + brokenCount < SNIFFED_ROWS) first.push(item.values);
    if (count >= page.offset && values.length < page.limit) values.push(item.values);
    count += 1;
    if (!toTheEnd && values.length === page.limit && count + brokenCount >= SNIFFED_ROWS) {
      isCounted = false;
      break;
    }
  }
  const shown = showRows(columns, values, known ?? first, firstBroken);
  const looked = { columns: columns.shown, rows: known ?? first, broken: firstBroken };
  const shape = shown.format || looked.rows.length + firstBroken === 0 ? null : describeShape(looked);
  return {
    ...shown,
    format_problem: shape && `${name} ${shape}.`,
    total_rows: isCounted ? count : null,
    broken,
    broken_count: brokenCount,
    whole_row: page.limit === 1 ? toWholeRow(columns.shown, values[0]) : null,
  };
}

type ShownRows = Pick<Preview, 'columns' | 'column_count' | 'rows' | 'format' | 'conversations'>;

/**
 * Rows as a screen shows them, cut to what it can; by the `first` ones of the file, among which so many are broken, its
 * format is recognised.
 */
export function showRows(
  { shown, count }: Columns,
  values: unknown[][],
  first: unknown[][],
  firstBroken: number,
): ShownRows {
  const cellChars = Math.floor(PAGE_CHARS_MAX / Math.max(1, values.length * shown.length));
  const format = recogniseFormat(shown, first, firstBroken);
  const dialogueAt = format && isDialogue(format) ? shown.indexOf(format.input_column) : -1;
  return {
    columns: shown.map((name) => cut(name, NAME_CHARS_MAX)),
    column_count: count,
    // Columns that showed up after a row are empty in it.
    rows: values.map((row) =>
      shown.map((_, at) => {
        const cell = toCell(row[at]);
        return typeof cell === 'string' ? cut(cell, cellChars) : cell;
      }),
    ),
    format,
    conversations:
      dialogueAt === -1
        ? []
        : values.map((row) => readConversation(row[dialogueAt], Math.floor(PAGE_CHARS_MAX / values.length))),
  };
}

function toCell(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return cut(typeof value === 'string' ? value : toJson(value), CELL_CHARS_MAX);
}

function toWholeRow(names: string[], values: unknown[] | undefined): string | null {
  if (!values) return null;
  // An object would put names that are numbers first.
  const fields = names.flatMap((name, at) =>
    values[at] === undefined ? [] : [`${JSON.stringify(name)}:${toJson(values[at])}`],
  );
  const row = `{${fields.join(',')}}`;
  return row.length > WHOLE_ROW_CHARS_MAX ? null : row;
}

function toJson(value: unknown): string {
  if (value instanceof Uint8Array) return JSON.stringify(`${value.length} bytes`);
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? String(item) : item));
}

/** By which a file is read: the ending of its name, in lower case, or that which it stands for. */
export function endingOf(file: string): string {
  const ending = file.split('.').at(-1)?.toLowerCase() ?? '';
  return ALIASES.get(ending) ?? ending;
}
