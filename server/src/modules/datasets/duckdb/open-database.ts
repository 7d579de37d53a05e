import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { list, text } from './quote.ts';

/** What one database may hold in memory; the limit of the process lies above it. */
export const MEMORY_MB = 512;
const THREADS = 2;

/**
 * An empty database in memory that reads `files`, may write `written`, and nothing else of the machine: no other file, no
 * network, no extension, no setting. Paths are relative to the working folder, so that no message names a place of
 * this machine. The process that it runs in is confined besides.
 */
export async function openDatabase(files: string[], written: string[] = []): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(THREADS),
    memory_limit: `${MEMORY_MB}MB`,
    // Nothing is put aside on disk: a query that does not fit fails.
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
