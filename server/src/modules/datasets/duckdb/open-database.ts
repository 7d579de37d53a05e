import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { list, text } from './quote.ts';

/** Memory limit of one database, in MB; the process limit is higher. */
export const MEMORY_MB = 512;
const THREADS = 2;

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
