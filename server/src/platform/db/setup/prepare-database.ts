import pg from 'pg';
import { databaseUnavailable } from '../../errors.ts';
import { ping } from '../database.ts';
import { migrate } from './migrate.ts';

const VERSION_MIN = 180000;

/**
 * Migrates the database, after checking that it is reachable and its version is supported. Throws a plain
 * sentence otherwise.
 */
export async function prepareDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
  } catch (error) {
    throw new Error(`The database at ${withoutPassword(url)} cannot be reached: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  try {
    const { rows } = await client.query<{ version: number }>(
      "select current_setting('server_version_num')::int as version",
    );
    const version = rows[0]?.version ?? 0;
    if (version < VERSION_MIN) {
      throw new Error(
        `The database at DATABASE_URL is PostgreSQL ${Math.floor(version / 10000)}; Bakehouse needs ${VERSION_MIN / 10000} or newer`,
      );
    }
  } finally {
    await client.end();
  }
  await migrate(url);
}

function withoutPassword(url: string): string {
  try {
    const redacted = new URL(url);
    if (redacted.password) redacted.password = '***';
    return redacted.href;
  } catch {
    return 'DATABASE_URL';
  }
}

/** If a name has several addresses, Node throws an AggregateError with an empty message. */
function reasonOf(error: unknown): string {
  const one = error instanceof AggregateError ? error.errors[0] : error;
  return one instanceof Error ? one.message : String(one);
}

/**
 * Throws AppError 'unavailable' if the database is unavailable. Call it after a library failed in a way that
 * may hide an outage.
 */
export async function requireDatabase(pool: pg.Pool): Promise<void> {
  await ping(pool).catch((cause: unknown) => {
    throw databaseUnavailable(cause);
  });
}
