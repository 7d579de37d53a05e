import type { TrackerService } from '@bakehouse/contract/trackers';
import type { Selectable } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { TrackersTable } from '../../platform/db/schema.generated.ts';

export type TrackerRow = Omit<Selectable<TrackersTable>, 'service'> & { service: TrackerService };

/** A user has at most one tracker per service. */
export type TrackerKey = { userId: string; service: TrackerService };

export async function selectTrackers(db: Database, userId: string): Promise<TrackerRow[]> {
  const rows = await db
    .selectFrom('trackers')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('service', 'desc')
    .execute();
  return rows.map(toTracker);
}

export async function findTracker(
  db: Database,
  { userId, service }: TrackerKey,
): Promise<TrackerRow | undefined> {
  return (await selectTrackers(db, userId)).find((row) => row.service === service);
}

/** Inserts or updates a tracker. `connected_at` is set only on insert. */
export async function upsertTracker(tx: Transaction, row: TrackerRow): Promise<TrackerRow> {
  const { user_id: _user, service: _service, connected_at: _since, ...changed } = row;
  const saved = await tx
    .insertInto('trackers')
    .values(row)
    .onConflict((conflict) => conflict.columns(['user_id', 'service']).doUpdateSet(changed))
    .returningAll()
    .executeTakeFirstOrThrow();
  return toTracker(saved);
}

/**
 * Records why nothing can be logged; null clears the reason. Does nothing if the key was replaced in the
 * meantime.
 */
export async function setTrouble(
  db: Database,
  { user_id, service, encrypted }: Pick<TrackerRow, 'user_id' | 'service' | 'encrypted'>,
  { trouble, isRefused }: { trouble: string | null; isRefused: boolean },
): Promise<void> {
  await db
    .updateTable('trackers')
    .set({ trouble, is_refused: isRefused })
    .where('user_id', '=', user_id)
    .where('service', '=', service)
    .where('encrypted', 'is not distinct from', encrypted)
    .execute();
}

/** Returns true if a tracker was deleted. */
export async function deleteTrackerRow(tx: Transaction, { userId, service }: TrackerKey): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('trackers')
    .where('user_id', '=', userId)
    .where('service', '=', service)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

function toTracker(row: Selectable<TrackersTable>): TrackerRow {
  return { ...row, service: row.service as TrackerService };
}
