import {
  DuckDBBlobValue,
  DuckDBTypeId,
  type DuckDBValueConverter,
  type Json,
  JsonDuckDBValueConverter,
} from '@duckdb/node-api';

/** JSON values and bytes. */
export type Value = Json | Uint8Array;

/**
 * Converts a DuckDB value to the form that the readers return. Integers become numbers if JavaScript
 * represents them exactly, else text; times, decimals, NaN and Infinity become text as DuckDB prints them.
 * Lists and structs become arrays and objects.
 */
export const readValue: DuckDBValueConverter<Value> = (value, type) => {
  if (value === null) return null;
  if (value instanceof DuckDBBlobValue) return value.bytes;
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  if (type.typeId === DuckDBTypeId.INTERVAL) return String(value);
  // The library converts nested values with the converter passed to it.
  return JsonDuckDBValueConverter(value, type, readValue as DuckDBValueConverter<Json>);
};
