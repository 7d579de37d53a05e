import {
  DuckDBBlobValue,
  type DuckDBConnection,
  DuckDBInstance,
  DuckDBTypeId,
  type DuckDBValueConverter,
  type Json,
  JsonDuckDBValueConverter,
} from '@duckdb/node-api';

/** Memory limit of one database, in MB; the process limit is higher. */
export const MEMORY_MB = 512;

const THREADS = 2;

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

/**
 * Opens an in-memory database that may read `files` and write `written`; other files, the network, extensions
 * and settings are blocked. Paths are relative to the working folder, so that error messages reveal no local
 * path. The process is confined as well.
 */
export async function openDatabase(files: string[], written: string[] = []): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(THREADS),
    memory_limit: `${MEMORY_MB}MB`,
    // No spilling to disk: a query that exceeds the memory limit fails.
    temp_directory: '',
    max_temp_directory_size: '0B',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  });
  const database = await instance.connect();
  await database.run(`SET allowed_paths = ${list([...files, ...written].map(text))}`);
  await database.run(
    "SET enable_external_access = false; SET TimeZone = 'UTC'; SET lock_configuration = true",
  );
  return database;
}

/** Returns the text as an SQL string literal. */
export function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/** Returns the name as a quoted SQL identifier. */
export function name(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}

export function list(items: readonly string[]): string {
  return `[${items.join(', ')}]`;
}

/** JSON values and bytes. */
export type Value = Json | Uint8Array;
