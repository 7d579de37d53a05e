import {
  DuckDBArrayType,
  type DuckDBConnection,
  DuckDBDecimalType,
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId as Id,
} from '@duckdb/node-api';
import { Unreadable } from '../preview/table.ts';
import { name as quoted } from './open-database.ts';

/** Maximum number of decimal digits of each integer type. */
const DIGITS = new Map<Id, number>([
  [Id.TINYINT, 3],
  [Id.UTINYINT, 3],
  [Id.SMALLINT, 5],
  [Id.USMALLINT, 5],
  [Id.INTEGER, 10],
  [Id.UINTEGER, 10],
  [Id.BIGINT, 19],
  [Id.UBIGINT, 20],
  [Id.HUGEINT, 39],
  [Id.UHUGEINT, 39],
]);

/** Decimal digits that every number of a floating-point type can store exactly. */
const KEPT_DIGITS = new Map<Id, number>([
  [Id.FLOAT, 6],
  [Id.DOUBLE, 15],
]);

/**
 * Checks that parts of a split file can be combined into one table. Throws Unreadable, with the names of the
 * column and two parts, if the combined type would lose digits of numbers or columns of a part.
 */
export async function assertLosslessParts(
  database: DuckDBConnection,
  { files, table, scan }: { files: readonly string[]; table: string; scan: (file: string) => string },
): Promise<void> {
  const common = await columnsOf(database, table);
  const parts: { file: string; columns: Map<string, DuckDBType> }[] = [];
  for (const file of files) parts.push({ file, columns: await columnsOf(database, scan(file)) });
  for (const { file, columns } of parts) {
    for (const [column, type] of columns) {
      const joined = common.get(column);
      if (joined === undefined) {
        throw new Unreadable(
          `The column '${column}' is in ${file}, but not in ${files[0]}, which is a part of the same table. Save all parts with the same columns.`,
        );
      }
      if (!losesDigits(type, joined) || (await fits(database, scan(file), column, type, joined))) continue;
      const other = parts.find(
        ({ columns: others }) => (others.get(column) ?? type).toString() !== type.toString(),
      );
      const otherType = other?.columns.get(column) ?? joined;
      throw new Unreadable(
        `The column '${column}' is ${type.toString()} in ${file} and ${otherType.toString()} in ${other?.file ?? 'another part'}. No type holds the values of both exactly. Save all parts of the table with the same type.`,
      );
    }
  }
}

/** Returns the columns of a scan by lower-case name: DuckDB's names are case-insensitive. */
async function columnsOf(database: DuckDBConnection, scan: string): Promise<Map<string, DuckDBType>> {
  const prepared = await database.prepare(`FROM ${scan}`);
  return new Map(
    Array.from({ length: prepared.columnCount }, (_, at) => [
      prepared.columnName(at).toLowerCase(),
      prepared.columnType(at),
    ]),
  );
}

/** True if converting between these types may change a value without an error. */
function losesDigits(from: DuckDBType, to: DuckDBType): boolean {
  if (from instanceof DuckDBStructType && to instanceof DuckDBStructType) {
    return from.entryNames.some((entry, at) => {
      const target = to.entryNames.findIndex((other) => other.toLowerCase() === entry.toLowerCase());
      return losesBetween(from.entryTypes[at], to.entryTypes[target]);
    });
  }
  if (from instanceof DuckDBMapType && to instanceof DuckDBMapType)
    return losesDigits(from.keyType, to.keyType) || losesDigits(from.valueType, to.valueType);
  if (isList(from) && isList(to)) return losesDigits(from.valueType, to.valueType);
  if (from instanceof DuckDBDecimalType && to instanceof DuckDBDecimalType)
    return to.scale < from.scale || to.width - to.scale < from.width - from.scale;
  const digits = from instanceof DuckDBDecimalType ? from.width : DIGITS.get(from.typeId);
  if (from.typeId === Id.BOOLEAN) return DIGITS.has(to.typeId) || KEPT_DIGITS.has(to.typeId);
  if (digits === undefined) return false;
  if (to instanceof DuckDBDecimalType) return to.width - to.scale < digits;
  return digits > (KEPT_DIGITS.get(to.typeId) ?? digits);
}

function losesBetween(from: DuckDBType | undefined, to: DuckDBType | undefined): boolean {
  return from === undefined || to === undefined || losesDigits(from, to);
}

function isList(type: DuckDBType): type is DuckDBListType | DuckDBArrayType {
  return type instanceof DuckDBListType || type instanceof DuckDBArrayType;
}

/**
 * True if all integers of the part are small enough for DOUBLE. pandas writes integer columns with gaps as
 * DOUBLE, so this is common.
 */
async function fits(
  database: DuckDBConnection,
  scan: string,
  column: string,
  from: DuckDBType,
  to: DuckDBType,
): Promise<boolean> {
  if (!DIGITS.has(from.typeId) || !KEPT_DIGITS.has(to.typeId)) return false;
  const bits = to.typeId === Id.DOUBLE ? 53 : 24;
  const found = await database.runAndReadAll(
    `SELECT coalesce(bool_and(${quoted(column)} BETWEEN -(2::HUGEINT ** ${bits})::HUGEINT AND (2::HUGEINT ** ${bits})::HUGEINT), true) FROM ${scan}`,
  );
  return found.getRows()[0]?.[0] === true;
}
