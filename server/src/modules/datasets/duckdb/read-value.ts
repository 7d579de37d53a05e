import {
  DuckDBBlobValue,
  DuckDBTypeId,
  type DuckDBValueConverter,
  type Json,
  JsonDuckDBValueConverter,
} from '@duckdb/node-api';

/** What JSON can hold, and bytes. */
export type Value = Json | Uint8Array;

/**
 * A value of DuckDB as the readers have theirs: whole numbers are numbers as far as JavaScript holds them exactly, else
 * text; so are times, decimals, NaN and Infinity, as DuckDB prints them. Lists and structs are lists and objects.
 */
export const readValue: DuckDBValueConverter<Value> = (value, type) => {
  if (value === null) return null;
  if (value instanceof DuckDBBlobValue) return value.bytes;
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  if (type.typeId === DuckDBTypeId.INTERVAL) return String(value);
  // It converts what lists and structs hold by the converter that it is given.
  return JsonDuckDBValueConverter(value, type, readValue as DuckDBValueConverter<Json>);
};
