import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Database, Transaction } from '../db/database.ts';

/** If a process dies with a lease, another one may lease the row after this time. */
const LEASE_MS = 15_000;
const LOOK_AGAIN_MS = sql<number>`3000`;

/**
 * A table whose rows any process can process, one step at a time. In addition to its own columns it has `id`,
 * `check_at` (when the row is due) and a lease: `lock_token` and `locked_until`. Until that time, only the
 * process with the token may change the row.
 */
export type LeasedTable<Columns, Row> = {
  name: string;
  columns: readonly (keyof Columns & string)[];
  /** Condition for rows to process, regardless of their time. An index on `check_at` should cover it. */
  due: RawBuilder<boolean>;
  /** Milliseconds until a row is due again if no signal wakes the loop. Defaults to three seconds. */
  lookAgainMs?: RawBuilder<number>;
  /** Order in which due rows are leased. Defaults to longest due first. */
  order?: RawBuilder<unknown>;
  toRow: (columns: Columns) => Row;
};

export type Lease<Row> = { id: string; token: string; row: Row };

/** Leases the first due row, or returns null. The row is due again a few seconds later. */
export async function claimDue<Columns extends { id: string }, Row>(
  db: Database,
  table: LeasedTable<Columns, Row>,
  now: Date,
): Promise<Lease<Row> | null> {
  const longest = sql`select id from ${sql.table(table.name)}
    where ${isFree(table, now)} order by ${table.order ?? sql`check_at`} limit 1 for update skip locked`;
  return lease(db, table, sql`id = (${longest})`, now);
}

/** Leases this row, for callers with their own order. Returns null if it is not due or already leased. */
export async function claimRow<Columns extends { id: string }, Row>(
  tx: Transaction,
  table: LeasedTable<Columns, Row>,
  id: string,
  now: Date,
): Promise<Lease<Row> | null> {
  return lease(tx, table, sql`id = ${id} and ${isFree(table, now)}`, now);
}

/** Extends a lease and writes `values`, for work longer than a step. Returns false if the lease is lost. */
export async function renewLease<Columns, Row>(
  db: Database,
  table: LeasedTable<Columns, Row>,
  { id, token }: Pick<Lease<Row>, 'id' | 'token'>,
  { now, values = {} }: { now: Date; values?: { [Name in keyof Columns & string]?: unknown } },
): Promise<boolean> {
  const changed = { ...values, locked_until: new Date(now.getTime() + LEASE_MS) };
  const sets = Object.entries(changed).map(([name, value]) => sql`${sql.ref(name)} = ${value}`);
  const { numAffectedRows } = await sql`
    update ${sql.table(table.name)} set ${sql.join(sets)}
    where id = ${id} and lock_token = ${token}`.execute(db);
  return numAffectedRows === 1n;
}

function isFree<Columns, Row>({ due }: LeasedTable<Columns, Row>, now: Date) {
  return sql`check_at <= ${now} and (locked_until is null or locked_until <= ${now}) and (${due})`;
}

async function lease<Columns extends { id: string }, Row>(
  db: Database | Transaction,
  table: LeasedTable<Columns, Row>,
  where: RawBuilder<unknown>,
  now: Date,
): Promise<Lease<Row> | null> {
  const token = randomUUID();
  const lockedUntil = new Date(now.getTime() + LEASE_MS);
  // Set it now instead of after the work, so that a wake-up during the work is not lost.
  const checkAt = sql`${now}::timestamptz + (${table.lookAgainMs ?? LOOK_AGAIN_MS}) * interval '1 millisecond'`;
  const { rows } = await sql<Columns>`
    update ${sql.table(table.name)} set lock_token = ${token}, locked_until = ${lockedUntil}, check_at = ${checkAt}
    where ${where}
    returning ${columnsOf(table)}`.execute(db);
  const [row] = rows;
  return row ? { id: row.id, token, row: table.toRow(row) } : null;
}

/** Locks the row until the transaction ends. Returns null if the lease is lost. */
export async function lockLeased<Columns, Row>(
  tx: Transaction,
  table: LeasedTable<Columns, Row>,
  { id, token }: Pick<Lease<Row>, 'id' | 'token'>,
): Promise<Row | null> {
  const { rows } = await sql<Columns>`
    select ${columnsOf(table)} from ${sql.table(table.name)}
    where id = ${id} and lock_token = ${token} for update`.execute(tx);
  return rows[0] ? table.toRow(rows[0]) : null;
}

/** Releases a lease on a locked row. */
export async function releaseLeased<Columns, Row>(
  tx: Transaction,
  table: LeasedTable<Columns, Row>,
  { id }: Pick<Lease<Row>, 'id'>,
): Promise<void> {
  await sql`
    update ${sql.table(table.name)} set lock_token = null, locked_until = null where id = ${id}`.execute(tx);
}

function columnsOf({ columns }: { columns: readonly string[] }) {
  return sql.join(columns.map((column) => sql.ref(column)));
}
