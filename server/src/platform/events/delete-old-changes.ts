import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { defineJob } from '../jobs/define-job.ts';
import { KEPT_MS } from './stream-changes.ts';

/** A batch takes well below a second, so that announcements do not wait long for its locks. */
const BATCH = 10_000;

/** Key of a row. Announcements lock rows in the order of these keys. */
type Place = { user_id: string; topic: string; thing_id: string };

const FIRST: Place = { user_id: '', topic: '', thing_id: '' };

/** Deletes changes that no stream can resume from any more, because they are too old. */
export const deleteOldChangesJob = defineJob({
  name: 'platform.forget-changes',
  schedule: '53 * * * *',
  run: async ({ db, clock }, _data: object, signal) => {
    const before = new Date(clock.now().getTime() - KEPT_MS);
    let last: Place | undefined = FIRST;
    while (last !== undefined && !signal.aborted)
      last = await deleteOld(db, { before, after: last, limit: BATCH });
  },
});

/**
 * Deletes the next rows after `after` that are older than `before`. Returns the key of the last one, or
 * undefined. Each call continues where the previous one stopped, so that together they read the table once.
 * There is no index on the time, because it would make each repeated announcement slower.
 */
export async function deleteOld(
  db: Database,
  { before, after, limit }: { before: Date; after: Place; limit: number },
): Promise<Place | undefined> {
  // Skip locked rows: they are being announced again, so they are not old.
  const { rows } = await sql<Place>`
    with old as (
      select user_id, topic, thing_id from recent_changes
      where at < ${before} and (user_id, topic, thing_id) > (${after.user_id}, ${after.topic}, ${after.thing_id})
      order by user_id, topic, thing_id limit ${limit} for update skip locked
    ), gone as (
      delete from recent_changes where (user_id, topic, thing_id) in (select user_id, topic, thing_id from old)
    )
    select * from old order by user_id desc, topic desc, thing_id desc limit 1`.execute(db);
  return rows[0];
}
