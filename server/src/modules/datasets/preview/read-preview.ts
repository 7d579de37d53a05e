import type { filePreview } from '@bakehouse/contract/assets';
import type { dataFormat } from '@bakehouse/contract/runtime/train-spec';
import type * as z from 'zod';
import { extensionOf } from '../data-file.ts';
import {
  type DataFile,
  type LoadedTable,
  loadRows,
  loadTable,
  openDataFile,
  readRows,
} from '../duckdb/load-table.ts';
import type { Profile } from '../read-profile.ts';
import { isDialogue, readConversation } from './conversation.ts';
import { cut, toCell, toJson } from './table.ts';

const BROKEN_MAX = 100;
export const NAME_CHARS_MAX = 200;
/**
 * Maximum characters of all cells of a response together. If there are many cells, each is truncated further.
 */
const PAGE_CHARS_MAX = 2_000_000;
const WHOLE_ROW_CHARS_MAX = 1_000_000;

export type Preview = z.infer<typeof filePreview>;
export type Page = { offset: number; limit: number };

/**
 * Returns a page of rows of a data file, as much of it as a screen can show. These are the rows that training
 * reads; of a large file, the rows that DuckDB reads. Throws Unreadable for damaged files. The file is
 * untrusted, so run this in a confined process.
 */
export async function readPreview(file: DataFile & { profile: Profile } & Page): Promise<Preview> {
  const { profile, offset, limit } = file;
  const database = await openDataFile(file);
  const isText = extensionOf(file.name) !== 'parquet';
  const isWritten = isText && offset + limit <= profile.rows_written;
  const table = isWritten ? loadRows(file, profile) : await loadTable(database, file);
  const rows = (await readRows(database, table, { offset, limit })).map(({ values }) => values);
  return {
    ...showRows(table.columns, rows, profile.format),
    format_problem: profile.format_problem,
    total_rows: isText ? profile.row_count : table.rowCount,
    broken: profile.broken.slice(0, BROKEN_MAX),
    broken_count: profile.broken_count,
    whole_row: limit === 1 ? toWholeRow(table.columns.names, rows[0]) : null,
  };
}

type ShownRows = Pick<Preview, 'columns' | 'column_count' | 'rows' | 'format' | 'conversations'>;

/** Returns rows truncated for display. If `format` names a column with conversations, also returns these. */
export function showRows(
  { names, count }: LoadedTable['columns'],
  values: unknown[][],
  format: z.infer<typeof dataFormat> | null,
): ShownRows {
  const cellChars = Math.floor(PAGE_CHARS_MAX / Math.max(1, values.length * names.length));
  const dialogueAt = format && isDialogue(format) ? names.indexOf(format.input_column) : -1;
  return {
    columns: names.map((name) => cut(name, NAME_CHARS_MAX)),
    column_count: count,
    // A row may have fewer values, because later rows of the file may have more columns.
    rows: values.map((row) => names.map((_, at) => toCell(row[at], cellChars))),
    format,
    conversations:
      dialogueAt === -1
        ? []
        : values.map((row) => readConversation(row[dialogueAt], Math.floor(PAGE_CHARS_MAX / values.length))),
  };
}

function toWholeRow(names: string[], values: unknown[] | undefined): string | null {
  if (!values) return null;
  // Build the JSON as text, because a JavaScript object would move numeric names to the front.
  const fields = names.flatMap((name, at) =>
    values[at] === undefined ? [] : [`${JSON.stringify(name)}:${toJson(values[at])}`],
  );
  const row = `{${fields.join(',')}}`;
  return row.length > WHOLE_ROW_CHARS_MAX ? null : row;
}
