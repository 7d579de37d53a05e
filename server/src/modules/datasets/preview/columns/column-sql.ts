import type { ColumnStatistics } from '@bakehouse/contract/data-files';
import { type DuckDBType, DuckDBTypeId } from '@duckdb/node-api';
import type { CellKind } from '../../duckdb/load-table.ts';

export type Kind = Exclude<ColumnStatistics['type'], 'picture' | 'mixed' | 'empty'>;

/** A column of a table as statistics and filters ask for it: expressions of SQL, each null where it has no meaning. */
export type ColumnSql = {
  /** Whether the cell holds something: neither nothing nor blank text. */
  filled: string;
  /** What kind of thing that is. */
  kind: string;
  /** Its number. */
  number: string;
  /** Characters of a text, items of a list. */
  length: string;
  /** It as text. */
  text: string;
  /** Whether there is no value at all. */
  isNull: string;
};

/** Characters that are blank. */
const BLANK = ' \t\n\r\v\f\u00a0\ufeff\u2028\u2029';
/** A number as people write them into csv, between blanks; what begins with a zero is rather a name. */
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

/** How the column `c` of a table is asked. */
export function columnSql(kind: CellKind, c: string, type: DuckDBType): ColumnSql {
  if (kind === 'text') return textSql(c);
  return kind === 'json' ? jsonSql(c) : typedSql(c, kindOf(type));
}

/** Whether a text has a character that is not blank: a tenth of the time that trimming it takes. */
const isNotBlank = (sql: string) => `regexp_matches(${sql}, '[^${BLANK}]')`;

/** All cells of csv are text, whatever they mean. */
function textSql(c: string): ColumnSql {
  // Few numbers have blanks around them that the cast does not take.
  const number = `coalesce(TRY_CAST(${c} AS DOUBLE), TRY_CAST(trim(${c}, '${BLANK}') AS DOUBLE))`;
  // A hash such as 7e12345 looks like a number that is too large for one.
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
