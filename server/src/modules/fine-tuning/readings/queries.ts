import type { ValidateProgress, ValidateReport } from '@bakehouse/contract/runtime/train-spec';
import { type Selectable, sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../../platform/db/database.ts';
import type { DataReadingsTable } from '../../../platform/db/schema.generated.ts';
import type { DataToRead } from '../validation/read-data.ts';

export type ReadingRow = Selectable<DataReadingsTable>;

/** Returns a stored report by the cache key of its data; null if there is none. */
export async function selectReport(db: Database, dataName: string): Promise<ValidateReport | null> {
  const row = await db
    .selectFrom('data_readings')
    .select('report')
    .where('data_name', '=', dataName)
    .where('state', '=', 'done')
    .limit(1)
    .executeTakeFirst();
  return (row?.report as ValidateReport | undefined) ?? null;
}

/** Lets only one transaction at a time add readings of the same user. */
export async function lockReadings(tx: Transaction, userId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`readings of ${userId}`}, 0))`.execute(tx);
}

/** Cancels all active readings of a user except the newest `keep`. Returns their ids. */
export async function cancelOldReadings(
  tx: Transaction,
  userId: string,
  { keep, now }: { keep: number; now: Date },
): Promise<string[]> {
  const rows = await tx
    .updateTable('data_readings')
    .set({ state: 'cancelled', ended_at: now })
    .where('id', 'in', (where) =>
      where
        .selectFrom('data_readings')
        .select('id')
        .where('user_id', '=', userId)
        .where('state', '=', 'reading')
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .offset(keep),
    )
    .where('state', '=', 'reading')
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

export async function findReading(db: Database | Transaction, id: string): Promise<ReadingRow | undefined> {
  return db.selectFrom('data_readings').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Returns the user's active reading of the same data, or inserts one. */
export async function upsertReading(
  tx: Transaction,
  reading: {
    userId: string;
    dataName: string;
    datasetId: string;
    input: DataToRead;
    progress: ValidateProgress;
    at: Date;
  },
): Promise<ReadingRow & { isNew: boolean }> {
  return (
    tx
      .insertInto('data_readings')
      .values({
        user_id: reading.userId,
        data_name: reading.dataName,
        dataset_asset_id: reading.datasetId,
        file_name: reading.input.dataFile.path,
        input: toJson(reading.input),
        rows_read: reading.progress.rows_read,
        part: reading.progress.part,
        created_at: reading.at,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['user_id', 'data_name'])
          .where('state', '=', 'reading')
          // This update changes nothing, but makes the statement return an existing row.
          .doUpdateSet((row) => ({ file_name: row.ref('excluded.file_name') })),
      )
      .returningAll()
      // xmax is 0 for an inserted row, and set for an updated one.
      .returning(sql<boolean>`xmax = 0`.as('isNew'))
      .executeTakeFirstOrThrow()
  );
}

/** Stores the progress of a reading. Returns false if the reading has ended. */
export async function updateProgress(
  tx: Transaction,
  id: string,
  { rows_read, part }: ValidateProgress,
): Promise<boolean> {
  const row = await tx
    .updateTable('data_readings')
    .set({ rows_read, part })
    .where('id', '=', id)
    .where('state', '=', 'reading')
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export type ReadingEnd =
  | { state: 'done'; report: ValidateReport }
  | { state: 'failed'; reason: string }
  | { state: 'cancelled' };

/** Ends an active reading. Returns undefined if it has already ended. */
export async function endReading(
  tx: Transaction,
  id: string,
  end: ReadingEnd,
  at: Date,
): Promise<ReadingRow | undefined> {
  return tx
    .updateTable('data_readings')
    .set({
      state: end.state,
      ended_at: at,
      ...(end.state === 'failed' && { reason: end.reason }),
      ...(end.state === 'done' && {
        report: toJson(end.report),
        rows_read: end.report.rows_total,
        part: 1,
      }),
    })
    .where('id', '=', id)
    .where('state', '=', 'reading')
    .returningAll()
    .executeTakeFirst();
}

/** Returns the active readings and those that ended after the given time, newest first. */
export async function selectReadings(db: Database, userId: string, endedSince: Date): Promise<ReadingRow[]> {
  return db
    .selectFrom('data_readings')
    .selectAll()
    .where('user_id', '=', userId)
    .where((where) => where.or([where('ended_at', 'is', null), where('ended_at', '>', endedSince)]))
    .orderBy('created_at', 'desc')
    .limit(50)
    .execute();
}
