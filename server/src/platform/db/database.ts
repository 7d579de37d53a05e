import { Kysely, type Transaction as KyselyTransaction, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { DB, JsonValue } from './schema.generated.ts';

export type Database = Kysely<DB>;
export type Transaction = KyselyTransaction<DB>;

const { builtins } = pg.types;
/** The driver names no array types. */
const INT8_ARRAY: number = 1016;

/**
 * How values arrive in JavaScript, where not as the driver has it. bigint columns hold money and
 * sizes: exact, never floating point. A date is a calendar day and has no time zone: it stays text.
 */
const parsers = new Map<number, (text: string) => unknown>([
  [builtins.INT8, BigInt],
  [INT8_ARRAY, parseInt8Array],
  [builtins.DATE, (text) => text],
]);

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    (format === 'binary' ? undefined : parsers.get(oid)) ?? pg.types.getTypeParser(oid, format),
};

type PoolOptions = {
  /** Connections at most. */
  poolSize?: number;
  /** Hears of idle connections that broke; the pool replaces them by itself. */
  onIdleError?: (error: Error) => void;
};

/** A pool of connections to `url` with this program's value types. */
export function createPool(url: string, { poolSize = 10, onIdleError }: PoolOptions = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    types,
    application_name: 'bakehouse',
    connectionTimeoutMillis: 15_000,
    idleTimeoutMillis: 30_000,
  });
  pool.on('error', (error) => onIdleError?.(error));
  // A connection that breaks while it is in use fails its query; without a listener it would end the program.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** The query builder over a pool; `destroy()` ends the pool. */
export function openDatabase(pool: pg.Pool): Database {
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
}

/** Both in one step. Connects on first use. */
export function connect(url: string, options?: PoolOptions): Database {
  return openDatabase(createPool(url, options));
}

/**
 * A value as text for a jsonb column; bigint becomes a decimal string. Columns take text because
 * the driver would send a bare array as a PostgreSQL array.
 */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? item.toString() : item));
}

export type { JsonValue };

function parseInt8Array(text: string): (bigint | null)[] {
  const parse = pg.types.getTypeParser(INT8_ARRAY) as (text: string) => unknown;
  return (parse(text) as (string | null)[]).map((item) => (item === null ? null : BigInt(item)));
}
