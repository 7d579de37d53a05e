import path from 'node:path';
import type { filePreview } from '@bakehouse/contract/assets';
import type * as z from 'zod';
import { extensionOf, isPacked } from '../data-file.ts';
import { loadTable, readRows } from '../duckdb/load-table.ts';
import { openDatabase } from '../duckdb/open-database.ts';
import { isDialogue, readConversation } from './conversation.ts';
import { describeShape } from './format/describe-shape.ts';
import { recogniseFormat, SNIFFED_ROWS } from './format/recognise-format.ts';
import { openTextTable } from './read-text.ts';
import { type Columns, cut, isBroken, isTooDeep, type Table, toCell, toJson } from './table.ts';
import { hasMoreThan } from './unpack.ts';

/** Files up to this size are read to the end to count rows and broken rows. */
const COUNT_BYTES_MAX = 16 * 1024 * 1024;
/** In larger files, DuckDB finds the rows from here on. */
const DEEP_ROWS = 10_000;
const BROKEN_MAX = 100;
export const NAME_CHARS_MAX = 200;
/** Limit for all cells of a response; if there are many, each is truncated further. */
const PAGE_CHARS_MAX = 2_000_000;
const WHOLE_ROW_CHARS_MAX = 1_000_000;

export type Preview = z.infer<typeof filePreview>;
export type Page = { offset: number; limit: number };

/**
 * Returns a page of rows of a data file, parsed as training parses it, and also of a gzip file, which
 * training rejects. Reads no more of the file than needed and returns no more than a screen can show. Throws
 * Unreadable for other kinds of file and for files that do not match their extension. The file is untrusted:
 * run this with limits.
 */
export async function readPreview(file: { localPath: string; name: string } & Page): Promise<Preview> {
  const name = path.basename(file.name);
  if (!isPacked(file.name)) return readFile(name, file);
  const preview = await readFile(name, file);
  // Training rejects gzip files with this message.
  return { ...preview, format_problem: `${name} is packed with gzip. Unpack it and upload it again.` };
}

async function readFile(name: string, file: { localPath: string; name: string } & Page): Promise<Preview> {
  if (extensionOf(file.name) === 'parquet') return readByDuckDb(name, file);
  const isLarge = await hasMoreThan(file, COUNT_BYTES_MAX);
  if (isLarge && file.offset >= DEEP_ROWS) return readByDuckDb(name, file);
  try {
    return await readPage(name, await openTextTable(file), file, !isLarge);
  } catch (error) {
    // A hundred rows of 1 MB exceed our reader's byte limit.
    if (!isTooDeep(error)) throw error;
    return readByDuckDb(name, file);
  }
}

/**
 * Reads a page of Parquet, or a page deep in a text file that our own reader would have to scan from the
 * start.
 */
async function readByDuckDb(
  name: string,
  file: { localPath: string; name: string } & Page,
): Promise<Preview> {
  const database = await openDatabase([file.localPath]);
  const table = await loadTable(database, file);
  const { names, count } = table.columns;
  const rows = await readRows(database, table, file);
  const { firstBroken } = table;
  const first = await readRows(database, table, { offset: 0, limit: SNIFFED_ROWS - firstBroken });
  const page = await readPage(
    name,
    {
      columns: { shown: names, count },
      rows: (async function* () {
        for (const { at, values } of rows) yield { line: at + 1, values };
      })(),
    },
    { offset: 0, limit: file.limit },
    true,
    { rows: first.map(({ values }) => values), broken: firstBroken },
  );
  return { ...page, total_rows: table.rowCount };
}

/**
 * Collects one page; reads to the end of the table only to count. `known` are the file's first rows if the
 * table starts later: they determine the format.
 */
async function readPage(
  name: string,
  { columns, rows }: Table,
  page: Page,
  toTheEnd: boolean,
  known?: { rows: unknown[][]; broken: number },
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
  const beginning = known ?? { rows: first, broken: firstBroken };
  const shown = showRows(columns, values, beginning.rows, beginning.broken);
  const looked = { columns: columns.shown, ...beginning };
  const shape = shown.format || beginning.rows.length + beginning.broken === 0 ? null : describeShape(looked);
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
 * Returns rows truncated for display, with the format recognised from the file's `first` rows; `firstBroken`
 * is the number of unreadable first rows.
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
    // Columns first seen after a row are empty in it.
    rows: values.map((row) => shown.map((_, at) => toCell(row[at], cellChars))),
    format,
    conversations:
      dialogueAt === -1
        ? []
        : values.map((row) => readConversation(row[dialogueAt], Math.floor(PAGE_CHARS_MAX / values.length))),
  };
}

function toWholeRow(names: string[], values: unknown[] | undefined): string | null {
  if (!values) return null;
  // A JavaScript object would put numeric names first.
  const fields = names.flatMap((name, at) =>
    values[at] === undefined ? [] : [`${JSON.stringify(name)}:${toJson(values[at])}`],
  );
  const row = `{${fields.join(',')}}`;
  return row.length > WHOLE_ROW_CHARS_MAX ? null : row;
}
