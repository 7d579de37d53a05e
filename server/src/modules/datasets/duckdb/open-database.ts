import {
  DuckDBBlobValue,
  type DuckDBConnection,
  DuckDBInstance,
  DuckDBTypeId,
  type DuckDBValueConverter,
  type Json,
  JsonDuckDBValueConverter,
} from '@duckdb/node-api';

/** Memory limit of a database in MB. It is lower than the limit of the process. */
export const MEMORY_MB = 512;

const THREADS = 2;

/**
 * Converts a DuckDB value to a JSON value. Integers become numbers if JavaScript represents them exactly,
 * otherwise text. Times, decimals, NaN and Infinity become text as DuckDB prints them. Lists and structs
 * become arrays and objects. Bytes stay bytes.
 */
export const readValue: DuckDBValueConverter<Value> = (value, type) => {
  if (value === null) return null;
  if (value instanceof DuckDBBlobValue) return value.bytes;
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  if (type.typeId === DuckDBTypeId.INTERVAL) return String(value);
  // For nested values, the library calls the converter that it is given.
  return JsonDuckDBValueConverter(value, type, readValue as DuckDBValueConverter<Json>);
};

/**
 * Opens an in-memory database that may read `files` and write `written`. Blocks other files, the network,
 * extensions and changes of settings. Use paths relative to the working folder, so that errors reveal no
 * local path. The process must be confined as well.
 */
export async function openDatabase(files: string[], written: string[] = []): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(THREADS),
    memory_limit: `${MEMORY_MB}MB`,
    // Do not write temporary files: a query above the memory limit must fail.
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

/** A JSON value, or bytes. */
export type Value = Json | Uint8Array;
