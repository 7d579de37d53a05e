import type { ColumnStatistics } from '@bakehouse/contract/data-files';
import { type DuckDBType, DuckDBTypeId } from '@duckdb/node-api';
import type { CellKind } from '../../duckdb/load-table.ts';

export type Kind = Exclude<ColumnStatistics['type'], 'picture' | 'mixed' | 'empty'>;

/**
 * SQL expressions for a column, which statistics and filters use. Each is null for cells to which it does not
 * apply.
 */
export type ColumnSql = {
  /** True if the cell contains a value other than blank text. */
  filled: string;
  /** Type of the value. */
  kind: string;
  /** The value as a number. */
  number: string;
  /** The number of characters of a text, or of items of a list. */
  length: string;
  /** The value as text. */
  text: string;
  /** True if the cell contains no value. */
  isNull: string;
};

/** Whitespace characters. */
const BLANK = ' \t\n\r\v\f\u00a0\ufeff\u2028\u2029';
/**
 * Matches a number in csv, with optional whitespace around it. A text with a leading zero is an identifier,
 * not a number.
 */
const NUMBER = String.raw`'[${BLANK}]*-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?[${BLANK}]*'`;

const NUMBERS = new Set([
  ...[
    DuckDBTypeId.TINYINT,
    DuckDBTypeId.SMALLINT,
    DuckDBTypeId.INTEGER,
    DuckDBTypeId.BIGINT,
    DuckDBTypeId.HUGEINT,
  ],
  ...[DuckDBTypeId.UTINYINT, DuckDBTypeId.USMALLINT, DuckDBTypeId.UINTEGER, DuckDBTypeId.UBIGINT],
  ...[DuckDBTypeId.UHUGEINT, DuckDBTypeId.FLOAT, DuckDBTypeId.DOUBLE, DuckDBTypeId.DECIMAL],
]);
const DATES = new Set([
  ...[
    DuckDBTypeId.DATE,
    DuckDBTypeId.TIME,
    DuckDBTypeId.TIME_TZ,
    DuckDBTypeId.TIMESTAMP,
    DuckDBTypeId.TIMESTAMP_S,
  ],
  ...[DuckDBTypeId.TIMESTAMP_MS, DuckDBTypeId.TIMESTAMP_NS, DuckDBTypeId.TIMESTAMP_TZ, DuckDBTypeId.INTERVAL],
]);
const LISTS = new Set([DuckDBTypeId.LIST, DuckDBTypeId.ARRAY]);
const OBJECTS = new Set([DuckDBTypeId.STRUCT, DuckDBTypeId.MAP, DuckDBTypeId.UNION]);

/** Returns the SQL expressions for column `c` of a table. */
export function columnSql(kind: CellKind, c: string, type: DuckDBType): ColumnSql {
  if (kind === 'text') return textSql(c);
  return kind === 'json' ? jsonSql(c) : typedSql(c, kindOf(type));
}

/** True if the text has a non-blank character. This is ten times faster than trimming. */
const isNotBlank = (sql: string) => `regexp_matches(${sql}, '[^${BLANK}]')`;

/** A csv cell is always stored as text, even if it contains a number. */
function textSql(c: string): ColumnSql {
  // Cast first and trim only if that fails, because few numbers have whitespace that the cast rejects.
  const number = `coalesce(TRY_CAST(${c} AS DOUBLE), TRY_CAST(trim(${c}, '${BLANK}') AS DOUBLE))`;
  // A hash such as 7e12345 looks like a number, but overflows to infinity.
  const isNumber = `(regexp_full_match(${c}, ${NUMBER}) AND isfinite(${number}))`;
  return {
    filled: `(${c} IS NOT NULL AND ${isNotBlank(c)})`,
    kind: `CASE WHEN ${isNumber} THEN 'number' ELSE 'text' END`,
    number: `CASE WHEN ${isNumber} THEN ${number} END`,
    length: `length(${c})`,
    text: c,
    isNull: `${c} = ''`,
  };
}

function jsonSql(c: string): ColumnSql {
  const text = `(${c} ->> '$')`;
  const type = `json_type(${c})`;
  return {
    filled: `(${c} IS NOT NULL AND ${type} <> 'NULL' AND (${type} <> 'VARCHAR' OR ${isNotBlank(text)}))`,
    kind:
      `CASE ${type} WHEN 'VARCHAR' THEN 'text' WHEN 'BOOLEAN' THEN 'boolean' WHEN 'ARRAY' THEN 'list' ` +
      `WHEN 'OBJECT' THEN 'object' ELSE 'number' END`,
    number: `CASE WHEN ${type} NOT IN ('VARCHAR', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL') AND isfinite(TRY_CAST(${c} AS DOUBLE)) THEN TRY_CAST(${c} AS DOUBLE) END`,
    length: `CASE ${type} WHEN 'VARCHAR' THEN length(${text}) WHEN 'ARRAY' THEN json_array_length(${c}) END`,
    text: `CASE ${type} WHEN 'VARCHAR' THEN ${text} ELSE ${c}::VARCHAR END`,
    isNull: `(${c} IS NULL OR ${type} = 'NULL')`,
  };
}

function typedSql(c: string, kind: Kind): ColumnSql {
  return {
    filled: filledSql(c, kind),
    kind: `'${kind}'`,
    number: kind === 'number' ? `CASE WHEN isfinite(${c}::DOUBLE) THEN ${c}::DOUBLE END` : 'NULL::DOUBLE',
    length: kind === 'text' ? `length(${c}::VARCHAR)` : kind === 'list' ? `len(${c})` : 'NULL::BIGINT',
    text:
      kind === 'list' || kind === 'object'
        ? `to_json(${c})::VARCHAR`
        : kind === 'bytes'
          ? `base64(${c})`
          : `${c}::VARCHAR`,
    isNull: `${c} IS NULL`,
  };
}

function filledSql(c: string, kind: Kind): string {
  if (kind === 'number') return `(${c} IS NOT NULL AND isfinite(${c}::DOUBLE))`;
  return kind === 'text' ? `(${c} IS NOT NULL AND ${isNotBlank(`${c}::VARCHAR`)})` : `(${c} IS NOT NULL)`;
}

function kindOf({ typeId }: DuckDBType): Kind {
  if (NUMBERS.has(typeId)) return 'number';
  if (DATES.has(typeId)) return 'date';
  if (LISTS.has(typeId)) return 'list';
  if (OBJECTS.has(typeId)) return 'object';
  if (typeId === DuckDBTypeId.BOOLEAN) return 'boolean';
  return typeId === DuckDBTypeId.BLOB ? 'bytes' : 'text';
}
