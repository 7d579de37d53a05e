import type { RowFilter } from '@bakehouse/contract/data-files';
import { type DuckDBType, DuckDBTypeId } from '@duckdb/node-api';
import type { CellKind, LoadedTable } from '../../duckdb/load-table.ts';
import { text as quoted } from '../../duckdb/open-database.ts';
import { columnSql } from '../columns/column-sql.ts';
import { NAME_CHARS_MAX } from '../read-preview.ts';
import { cut, Unreadable } from '../table.ts';

const NESTED = new Set([
  ...[DuckDBTypeId.LIST, DuckDBTypeId.ARRAY, DuckDBTypeId.STRUCT, DuckDBTypeId.MAP, DuckDBTypeId.UNION],
]);

/**
 * Returns SQL conditions that match all wanted rows, and possibly others, which the caller must filter out.
 * Throws Unreadable for a filter on an unknown column.
 */
export function conditionsOf(
  { kind, columns: { names, types } }: Pick<LoadedTable, 'kind' | 'columns'>,
  { text, filters }: { text: string; filters: RowFilter[] },
): string[] {
  const wanted = text.toLowerCase();
  const anywhere = types.map((type, at) => mayContain(kind, `c${at}`, type, wanted));
  const conditions = filters.map((filter) => {
    const at = names.findIndex((name) => cut(name, NAME_CHARS_MAX) === filter.column);
    const type = types[at];
    if (!type) throw new Unreadable(`The file has no column '${filter.column}'.`, { param: 'filters' });
    return filterSql(filter, columnSql(kind, `c${at}`, type));
  });
  if (wanted === '') return conditions;
  return [anywhere.length === 0 ? 'false' : `(${anywhere.join(' OR ')})`, ...conditions];
}

/** Nested values are searched as JSON text, so the searched text is escaped like JSON. */
function mayContain(kind: CellKind, c: string, type: DuckDBType, wanted: string): string {
  const inside = quoted(JSON.stringify(wanted).slice(1, -1));
  if (kind === 'json') return `contains(lower(json(${c})::VARCHAR), ${inside})`;
  if (type.typeId === DuckDBTypeId.BLOB) return 'false';
  if (NESTED.has(type.typeId)) return `contains(lower(to_json(${c})::VARCHAR), ${inside})`;
  return `contains(lower(${c}::VARCHAR), ${quoted(wanted)})`;
}

function filterSql(
  { min, max, value, of }: RowFilter,
  { filled, number, length, text, isNull }: ReturnType<typeof columnSql>,
): string {
  if (of === 'nothing') return isNull;
  const measured = of === 'length' ? length : number;
  const parts = [
    filled,
    ...(min === undefined ? [] : [`${measured} >= '${min}'::DOUBLE`]),
    ...(max === undefined ? [] : [`${measured} <= '${max}'::DOUBLE`]),
    // A value ending in '…' was truncated, so compare only the start.
    ...(value === undefined
      ? []
      : [
          value.endsWith('…')
            ? `starts_with(${text}, ${quoted(value.slice(0, -1))})`
            : `${text} = ${quoted(value)}`,
        ]),
  ];
  return `(${parts.join(' AND ')})`;
}

/** True if a value contains the text. Searches nested lists and objects, including conversations. */
export function contains(value: unknown, wanted: string): boolean {
  switch (typeof value) {
    case 'string':
      return value.toLowerCase().includes(wanted);
    case 'number':
    case 'boolean':
      return String(value).includes(wanted);
    case 'object':
      if (value === null || value instanceof Uint8Array) return false;
      return Object.values(value).some((inner) => contains(inner, wanted));
    default:
      return false;
  }
}
