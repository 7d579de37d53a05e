import type { RowsAnswer } from '@bakehouse/contract/hub/datasets-server';
import type { DuckDBType } from '@duckdb/node-api';
import { DuckDBTypeId } from '@duckdb/node-api';
import { name, text as quoted } from '../duckdb/quote.ts';
import { readValue, type Value } from '../duckdb/read-value.ts';
import { withTables } from './answer-query.ts';
import { featureOf } from './feature-of.ts';
import type { LentTables } from './lent-tables.ts';

/** A cell that is longer, as JSON, is left out and named. */
const CELL_CHARS_MAX = 100_000;
/** All cells of an answer together. */
const ANSWER_CHARS_MAX = 16_000_000;
/** What the number of a row is called beside the columns. */
const ROW = '"row index of the table"';

/** Which rows of the one table that is lent. */
export type RowsQuery = LentTables & {
  /** A condition of SQL. */
  where?: string | undefined;
  /** What SQL sorts by. */
  orderBy?: string | undefined;
  /** What stands in a text column, in any case. */
  text?: string | undefined;
  offset: number;
  limit: number;
};

/** Rows of a table as they are, with their types. Throws RefusedQuery. What is asked and the files are not trusted: run it confined. */
export async function answerRows(asked: RowsQuery): Promise<RowsAnswer> {
  const { where, orderBy, text, offset, limit } = asked;
  const table = name(asked.tables[0]?.name ?? '');
  const order = orderBy ? `ORDER BY ${orderBy}` : '';
  const check = `SELECT * FROM ${table} ${where ? `WHERE (${where}\n)` : ''} ${order}`;
  return withTables(asked, check, async (database) => {
    const described = await database.prepare(`FROM ${table}`);
    const columns = Array.from({ length: described.columnCount }, (_, at) => ({
      name: described.columnName(at),
      type: described.columnType(at),
    }));
    const conditions = [...(where ? [`(${where}\n)`] : []), ...(text ? [containsText(columns, text)] : [])];
    const wanted = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
    const counted = await database.runAndReadAll(`SELECT count(*) FROM ${table} ${wanted}`);
    const numbered = `(SELECT row_number() OVER () - 1 AS ${ROW}, * FROM ${table})`;
    const found = await database.runAndReadAll(
      `SELECT * FROM ${numbered} ${wanted} ${order} LIMIT ${limit} OFFSET ${offset}`,
    );
    const values = found.convertRows(readValue);
    const chars = Math.min(CELL_CHARS_MAX, ANSWER_CHARS_MAX / Math.max(1, values.length * columns.length));
    return {
      features: columns.map((column, at) => ({
        feature_idx: at,
        name: column.name,
        type: featureOf(column.type),
      })),
      rows: values.map(([index, ...cells]) => ({
        row_idx: Number(index),
        ...toRow(
          columns.map((column) => column.name),
          cells,
          chars,
        ),
      })),
      num_rows_total: Number(counted.getRows()[0]?.[0]),
      num_rows_per_page: 100,
      partial: false,
    };
  });
}

function containsText(columns: { name: string; type: DuckDBType }[], text: string): string {
  const texts = columns.filter(({ type }) => type.typeId === DuckDBTypeId.VARCHAR);
  const parts = texts.map((column) => `contains(lower(${name(column.name)}), ${quoted(text.toLowerCase())})`);
  return parts.length > 0 ? `(${parts.join(' OR ')})` : 'false';
}

type Row = Pick<RowsAnswer['rows'][number], 'row' | 'truncated_cells'>;

function toRow(names: string[], cells: (Value | null)[], chars: number): Row {
  const row: Row['row'] = {};
  const truncated: string[] = [];
  for (const [at, column] of names.entries()) {
    const json = JSON.stringify(cells[at] ?? null, (_key, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
    );
    if (json.length > chars) truncated.push(column);
    Object.defineProperty(row, column, {
      value: json.length > chars ? null : JSON.parse(json),
      enumerable: true,
    });
  }
  return { row, truncated_cells: truncated };
}
