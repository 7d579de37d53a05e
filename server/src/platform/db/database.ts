import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, type Transaction as KyselyTransaction, PostgresDialect } from 'kysely';
import pg from 'pg';
import { markLostConnection } from './errors/database-errors.ts';
import type { DB, JsonValue } from './schema.generated.ts';

export type Database = Kysely<DB>;
export type Transaction = KyselyTransaction<DB>;

const { builtins } = pg.types;
/** The driver has no constants for array types. */
const INT8_ARRAY: number = 1016;

/**
 * Conversions that differ from the driver's. bigint columns hold money and sizes, so they must be exact and
 * never floating point. A date is a calendar day without a time zone, so it stays text.
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
  /** Maximum number of connections. Defaults to 10. */
  poolSize?: number;
  /**
   * PostgreSQL cancels statements that take longer, and ends transactions that are idle for longer. If
   * PostgreSQL itself is silent for twice as long, the connection is closed. Defaults to unlimited.
   */
  statementMsMax?: number;
  /** Called for idle connections that broke; the pool replaces them automatically. */
  onIdleError?: (error: Error) => void;
};

/** For connections that may be idle for long: the system detects that the other end is gone. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** A connection that marks its errors as database errors, except PostgreSQL's own, which have codes. */
class Client extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.connection.on('error', markLostConnection);
  }
}

/** Creates a pool of connections to `url` with this program's value types. */
export function createPool(
  url: string,
  { poolSize = 10, statementMsMax, onIdleError }: PoolOptions = {},
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    Client,
    max: poolSize,
    types,
    application_name: 'bakehouse',
    connectionTimeoutMillis: 15_000,
    idleTimeoutMillis: 30_000,
    ...keepAlive,
    ...(statementMsMax && {
      statement_timeout: statementMsMax,
      idle_in_transaction_session_timeout: statementMsMax,
    }),
  });
  pool.on('error', (error) => onIdleError?.(error));
  // The query in progress reports a broken connection. Without this listener the error would also end the
  // process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  if (statementMsMax) pool.on('connect', (client) => endIfSilent(client, 2 * statementMsMax));
  return pool;
}

/** Needed because PostgreSQL's own limits fail if it is frozen or the network drops packets. */
function endIfSilent(client: pg.ClientBase, ms: number): void {
  const socket = client instanceof pg.Client ? client.connection.stream : null;
  if (!(socket instanceof Socket)) return;
  socket.setTimeout(ms, () =>
    socket.destroy(new Error(`Connection terminated: PostgreSQL said nothing for ${ms / 1000} s`)),
  );
}

const PING_MS_MAX = 2_000;

/**
 * Resolves when the database has run `text`; rejects after two seconds. Closes a connection that does not
 * answer, so that the next call uses another.
 */
export async function ping(pool: pg.Pool, text = 'select 1'): Promise<void> {
  const question = { text, query_timeout: PING_MS_MAX };
  // `query_timeout` only starts when the pool has a connection for the query.
  const late = sleep(PING_MS_MAX, undefined, { ref: false }).then(() => {
    throw new Error(`No answer within ${PING_MS_MAX} ms`);
  });
  await Promise.race([pool.query(question), late]);
}

/** Returns the query builder over a pool; `destroy()` ends the pool. */
export function openDatabase(pool: pg.Pool): Database {
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
}

/** Creates a pool and its query builder. Connects on first use. */
export function connect(url: string, options?: PoolOptions): Database {
  return openDatabase(createPool(url, options));
}

/**
 * Serializes a value for a jsonb column; bigint becomes a decimal string. Columns take text because the
 * driver would send a bare array as a PostgreSQL array.
 */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? item.toString() : item));
}

export type { JsonValue };

function parseInt8Array(text: string): (bigint | null)[] {
  const parse = pg.types.getTypeParser(INT8_ARRAY) as (text: string) => unknown;
  return (parse(text) as (string | null)[]).map((item) => (item === null ? null : BigInt(item)));
}
