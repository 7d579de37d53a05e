import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, type Transaction as KyselyTransaction, PostgresDialect } from 'kysely';
import pg from 'pg';
import { noteLostConnection } from './errors/is-database-away.ts';
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
  /** Connections at most; 10 unless said. */
  poolSize?: number;
  /**
   * PostgreSQL ends statements that take longer, and idle transactions; where it does not answer for twice the time,
   * the connection is closed. Unlimited unless said.
   */
  statementMsMax?: number;
  /** Called for idle connections that broke; the pool replaces them by itself. */
  onIdleError?: (error: Error) => void;
};

/** For connections that may wait long: finds out that the other end is gone. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** A connection whose errors are marked as the database's. PostgreSQL's own errors have codes. */
class Client extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.connection.on('error', noteLostConnection);
  }
}

/** A pool of connections to `url` with this program's value types. */
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
  // A connection that breaks while it is in use fails its query; without a listener it would end the program.
  pool.on('connect', (client) => client.on('error', () => undefined));
  if (statementMsMax) pool.on('connect', (client) => giveUpSilent(client, 2 * statementMsMax));
  return pool;
}

/** The server's own limits do not help where it is frozen or the network drops packets. */
function giveUpSilent(client: pg.ClientBase, ms: number): void {
  const socket = client instanceof pg.Client ? client.connection.stream : null;
  if (!(socket instanceof Socket)) return;
  socket.setTimeout(ms, () =>
    socket.destroy(new Error(`Connection terminated: PostgreSQL said nothing for ${ms / 1000} s`)),
  );
}

const PING_MS_MAX = 2_000;

/**
 * Resolves when the database has run `text`; rejects after two seconds. A connection that does not answer is closed,
 * so that the next call uses another.
 */
export async function ping(pool: pg.Pool, text = 'select 1'): Promise<void> {
  const question = { text, query_timeout: PING_MS_MAX };
  // The query's own time begins when there is a connection for it.
  const late = sleep(PING_MS_MAX, undefined, { ref: false }).then(() => {
    throw new Error(`No answer within ${PING_MS_MAX} ms`);
  });
  await Promise.race([pool.query(question), late]);
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
