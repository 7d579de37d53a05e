import type { SweepParameter } from '@bakehouse/contract/sweep-axes';
import { type Selectable, sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { SweepsTable } from '../../../platform/db/schema.generated.ts';

/* The SQL of sweeps; that of their runs is with the runs. */

export type SweepRow = {
  id: string;
  userId: string;
  title: string;
  parameters: SweepParameter[];
  createdAt: Date;
};

export async function insertSweep(tx: Transaction, sweep: Omit<SweepRow, 'id'>): Promise<string> {
  const { id } = await tx
    .insertInto('sweeps')
    .values({
      user_id: sweep.userId,
      title: sweep.title,
      parameters: sweep.parameters,
      created_at: sweep.createdAt,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function findSweep(db: Database | Transaction, id: string): Promise<SweepRow | null> {
  const row = await db.selectFrom('sweeps').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? toSweepRow(row) : null;
}

/** Those of a user, newest first, behind the one that the cursor names. */
export async function selectSweeps(
  tx: Transaction,
  filter: { userId: string; search: string | undefined; cursor: string | undefined; limit: number },
): Promise<SweepRow[]> {
  const { userId, search = '', cursor, limit } = filter;
  const rows = await tx
    .selectFrom('sweeps')
    .selectAll()
    .where('user_id', '=', userId)
    .$if(search !== '', (query) => query.where(sql<boolean>`strpos(lower(title), lower(${search})) > 0`))
    .$if(cursor !== undefined, (query) =>
      query.where(
        sql<boolean>`(created_at, id) < (select created_at, id from sweeps where id = ${cursor} and user_id = ${userId})`,
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toSweepRow);
}

function toSweepRow(row: Selectable<SweepsTable>): SweepRow {
  const { id, user_id: userId, title, created_at: createdAt } = row;
  return { id, userId, title, parameters: row.parameters as SweepParameter[], createdAt };
}

/** Whoever else locks it waits until the transaction ends. */
export async function lockSweep(tx: Transaction, id: string): Promise<void> {
  await tx.selectFrom('sweeps').select('id').where('id', '=', id).forNoKeyUpdate().execute();
}

/** Their runs stay, and are part of nothing. */
export async function deleteSweepsOf(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('sweeps').where('user_id', '=', userId).execute();
}
