import type { TrackerService } from '@bakehouse/contract/trackers';
import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';
import type { TrackerKey } from './tracker-queries.ts';

export type TrackedRunRow = {
  runId: string;
  userId: string;
  service: TrackerService;
  remoteId: string | null;
  pointsSent: number;
  stepSent: number;
  lastValues: Record<string, number>;
};

/** Runs, joined with the trackers that their owner had connected at the start. Exports have no metrics. */
const runsWithTrackers = sql`trackers join runs
  on runs.user_id = trackers.user_id and runs.created_at >= trackers.connected_at and runs.kind <> 'export'`;

/** Adds runs that started since the last call and whose owner has a tracker. */
export async function trackNewRuns(db: Database): Promise<void> {
  await sql`
    insert into tracked_runs (run_id, service, user_id)
    select runs.id, trackers.service, trackers.user_id
    from ${runsWithTrackers}
    where not exists (
      select from tracked_runs where run_id = runs.id and tracked_runs.service = trackers.service)
    on conflict do nothing`.execute(db);
}

/**
 * Returns the runs that may have more to log. Runs are left out if they are closed and not resumed, or if
 * their tracker has refused the key.
 */
export async function selectOpenRuns(db: Database): Promise<TrackedRunRow[]> {
  const rows = await db
    .selectFrom('tracked_runs')
    .innerJoin('trackers', (join) =>
      join
        .onRef('trackers.user_id', '=', 'tracked_runs.user_id')
        .onRef('trackers.service', '=', 'tracked_runs.service'),
    )
    .innerJoin('workloads', 'workloads.id', 'tracked_runs.run_id')
    .selectAll('tracked_runs')
    .where('trackers.is_refused', '=', false)
    .where('tracked_runs.trouble', 'is', null)
    .where((where) =>
      where.or([where('tracked_runs.closed_at', 'is', null), where('workloads.ended_at', 'is', null)]),
    )
    .orderBy('tracked_runs.run_id')
    .execute();
  return rows.map((row) => ({
    ...{ runId: row.run_id, userId: row.user_id, service: row.service as TrackerService },
    ...{ remoteId: row.remote_id, pointsSent: row.points_sent, stepSent: row.step_sent },
    lastValues: row.last_values as Record<string, number>,
  }));
}

type Key = Pick<TrackedRunRow, 'runId' | 'service'>;

export async function updateRemoteRun(
  db: Database,
  key: Key,
  made: { remoteId: string; url: string },
): Promise<void> {
  await update(db, key, { remote_id: made.remoteId, url: made.url });
}

export async function updateSent(
  db: Database,
  key: Key,
  { pointsSent, stepSent, lastValues }: Pick<TrackedRunRow, 'pointsSent' | 'stepSent' | 'lastValues'>,
): Promise<void> {
  await update(db, key, {
    points_sent: pointsSent,
    step_sent: stepSent,
    last_values: toJson(lastValues),
    closed_at: null,
  });
}

/** Ends the logging of a run. `trouble` is the reason if the service refused the run. */
export async function closeRun(
  db: Database,
  key: Key,
  { at, trouble }: { at: Date; trouble: string | null },
): Promise<void> {
  await update(db, key, { closed_at: at, trouble });
}

async function update(
  db: Database,
  { runId, service }: Key,
  columns: Partial<{
    remote_id: string;
    url: string;
    points_sent: number;
    step_sent: number;
    last_values: ReturnType<typeof toJson>;
    closed_at: Date | null;
    trouble: string | null;
  }>,
): Promise<void> {
  await db
    .updateTable('tracked_runs')
    .set(columns)
    .where('run_id', '=', runId)
    .where('service', '=', service)
    .execute();
}

type Logged = { service: TrackerService; url: string | null; trouble: string | null };

/**
 * Returns the trackers to which a run is logged, or will be. `trouble` is the trouble of the run, else of the
 * tracker.
 */
export async function selectTrackersOf(db: Database, runId: string): Promise<Logged[]> {
  const { rows } = await sql<Logged>`
    select logged.service, tracked_runs.url, coalesce(tracked_runs.trouble, trackers.trouble) as trouble
    from (
      select service, user_id from tracked_runs where run_id = ${runId}
      union
      select trackers.service, trackers.user_id from ${runsWithTrackers} where runs.id = ${runId}
    ) logged
    left join tracked_runs on tracked_runs.run_id = ${runId} and tracked_runs.service = logged.service
    left join trackers on trackers.user_id = logged.user_id and trackers.service = logged.service
    order by logged.service desc`.execute(db);
  return rows;
}

/**
 * Deletes the logging state of open runs. They will be logged again from the start, at the tracker's new
 * address.
 */
export async function resetOpenRuns(tx: Transaction, { userId, service }: TrackerKey): Promise<void> {
  await tx
    .deleteFrom('tracked_runs')
    .where('user_id', '=', userId)
    .where('service', '=', service)
    .where('closed_at', 'is', null)
    .execute();
}
