import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Database, Transaction } from '../db/database.ts';

/** Whoever has died with a lease in hand is replaced after this time. */
const LEASE_MS = 15_000;
const LOOK_AGAIN_MS = sql<number>`3000`;

/**
 * Rows that are looked after one step at a time, by whichever process comes first. Besides its own
 * columns the table has `id`, `check_at` (when to look again), `lock_token` and `locked_until` (the
 * lease: whoever knows the token may change the row until then).
 */
export type LeasedTable<Columns, Row> = {
  name: string;
  columns: readonly (keyof Columns & string)[];
  /** Which rows are looked at, whatever their time. An index on `check_at` should cover it. */
  due: RawBuilder<boolean>;
  /** In how many milliseconds a row is due again that nobody wakes; three seconds unless said. */
  lookAgainMs?: RawBuilder<number>;
  /** Which due rows are leased first; those that have been due longest unless given. */
  order?: RawBuilder<unknown>;
  toRow: (columns: Columns) => Row;
};

export type Lease<Row> = { id: string; token: string; row: Row };

/** Leases the first row that is due; null when none is. It is due again a few seconds later. */
export async function claimDue<Columns extends { id: string }, Row>(
  db: Database,
  table: LeasedTable<Columns, Row>,
  now: Date,
): Promise<Lease<Row> | null> {
  const longest = sql`select id from ${sql.table(table.name)}
    where ${isFree(table, now)} order by ${table.order ?? sql`check_at`} limit 1 for update skip locked`;
  return lease(db, table, sql`id = (${longest})`, now);
}

/** Leases this row, for a caller who has an order of its own; null when it is not due, or somebody has it. */
export async function claimRow<Columns extends { id: string }, Row>(
  tx: Transaction,
  table: LeasedTable<Columns, Row>,
  id: string,
  now: Date,
): Promise<Lease<Row> | null> {
  return lease(tx, table, sql`id = ${id} and ${isFree(table, now)}`, now);
}

/**
 * Keeps a lease for longer, for work that takes more than one step's time, and writes `values` beside it; false when it
 * does not hold any more.
 */
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
  // Written here and not at the end, so that what wakes it meanwhile is not lost.
  const checkAt = sql`${now}::timestamptz + (${table.lookAgainMs ?? LOOK_AGAIN_MS}) * interval '1 millisecond'`;
  const { rows } = await sql<Columns>`
    update ${sql.table(table.name)} set lock_token = ${token}, locked_until = ${lockedUntil}, check_at = ${checkAt}
    where ${where}
    returning ${columnsOf(table)}`.execute(db);
  const [row] = rows;
  return row ? { id: row.id, token, row: table.toRow(row) } : null;
}

/** Locks the row as it is now until the transaction ends; null when the lease does not hold any more. */
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

/** Gives back a lease on a row that is locked. */
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
