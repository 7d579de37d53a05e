import { type InputOf, type ResponseOf } from '@bakehouse/contract/endpoint';
import { type listTrackedRuns as endpoint } from '@bakehouse/contract/trackers';
import { hasEnded } from '../../engine/model/workload.ts';
import { selectMetrics } from '../../engine/reports/attempt-log.ts';
import { type Context, type Services } from '../../platform/context.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';
import { findIntegration, type Integration } from '../fine-tuning/openai-jobs/create-job.ts';
import { findOwnRun } from '../fine-tuning/runs/runs.ts';
import { namedValues } from './event-file.ts';
import { keyOf, openService } from './open-service.ts';
import {
  type Outcome,
  type Point,
  RunRefused,
  type RunToLog,
  ServiceRefused,
  ServiceUnavailable,
  type TrackingService,
} from './services/tracking-service.ts';
import {
  closeRun,
  selectOpenRuns,
  selectTrackersOf,
  type TrackedRunRow,
  trackNewRuns,
  updateRemoteRun,
  updateSent,
} from './tracked-run-queries.ts';
import { findTracker, setTrouble } from './tracker-queries.ts';

/** Returns the trackers of one of the caller's runs. Throws AppError 'not_found'. */
export async function listTrackedRuns(
  { db, caller: { userId } }: Context,
  { params: { runId } }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { run } = await findOwnRun(db, { runId, userId });
  return { trackers: await selectTrackersOf(db, run.id) };
}

/** Maximum trackers to which the job logs at the same time. */
const TRACKERS_AT_ONCE = 4;

/** Logs new metrics of runs to their owners' trackers, once a minute. Training does not wait for this. */
export const logRunsJob = defineJob({
  name: 'tracking.log-runs',
  schedule: '* * * * *',
  run: async (services, _data, signal) => {
    await trackNewRuns(services.db);
    const open = await selectOpenRuns(services.db);
    const ofTrackers = [...Map.groupBy(open, ({ userId, service }) => `${userId} ${service}`).values()];
    const lane = async () => {
      for (let runs = ofTrackers.pop(); runs && !signal.aborted; runs = ofTrackers.pop())
        await logToTracker(services, runs);
    };
    await Promise.all(Array.from({ length: TRACKERS_AT_ONCE }, lane));
  },
});

/**
 * Logs the runs of one tracker, one after the other. Stops at the first run if the tracker refuses the key or
 * does not answer.
 */
async function logToTracker(services: Services, runs: TrackedRunRow[]): Promise<void> {
  const { db, config, clock, log } = services;
  const tracker = runs[0] && (await findTracker(db, runs[0]));
  if (!tracker) return;
  for (const run of runs) {
    try {
      const asked = await findIntegration(db, run);
      const project = asked?.project ?? tracker.project;
      const service = openService({ ...tracker, project, key: keyOf(tracker, config) }, config);
      await logRun(services, run, service, asked);
    } catch (error) {
      const refusal = { err: error, run_id: run.runId, service: run.service };
      if (error instanceof RunRefused) {
        log.warn(refusal, 'tracker refused a run');
        await closeRun(db, run, { at: clock.now(), trouble: error.message });
      } else if (error instanceof ServiceRefused || error instanceof ServiceUnavailable) {
        log.warn(refusal, 'tracker unavailable');
        await setTrouble(db, tracker, troubleOf(error));
        return;
      } else {
        log.error(refusal, 'failed to log a run to its tracker; the next job retries');
      }
    }
  }
  if (tracker.trouble !== null) await setTrouble(db, tracker, { trouble: null, isRefused: false });
}

/** Returns what the owner should know and do, as a sentence. */
function troubleOf(error: ServiceRefused | ServiceUnavailable): { trouble: string; isRefused: boolean } {
  if (error instanceof ServiceUnavailable)
    return { trouble: `${error.message}. Trying again every minute`, isRefused: false };
  const then = error.param === 'url' ? ', then save it again' : '. Save another one to go on';
  return { trouble: `${error.message}${then}`, isRefused: true };
}

type Run = Awaited<ReturnType<typeof findOwnRun>>['run'];

/** Maximum points per request. */
const POINTS_MAX = 1_000;

/**
 * Logs the new points of a run, and its end. The run is created at the service together with its first point.
 * The newest point of an active run is not logged yet, because its evaluation arrives later. Points that a
 * resumed run repeats are skipped.
 */
async function logRun(
  { db, clock }: Services,
  tracked: TrackedRunRow,
  service: TrackingService,
  asked: Integration | null,
): Promise<void> {
  // Read the state before the points. If the run has ended, all its points are stored.
  const { run, workload } = await findOwnRun(db, tracked);
  const ended = hasEnded(workload);
  const points = await selectMetrics(db, run.id, { afterStep: tracked.stepSent });
  const fresh = (ended ? points : points.slice(0, -1)).map(toPoint);
  if (fresh.length > 0 || (ended && tracked.remoteId !== null)) {
    const remoteId = tracked.remoteId ?? (await begin({ db }, tracked, toRunToLog(run, asked), service));
    let sent = { ...tracked, remoteId };
    for (let start = 0; start < fresh.length; start += POINTS_MAX) {
      const part = fresh.slice(start, start + POINTS_MAX);
      const lastValues = Object.assign({}, sent.lastValues, ...part.map(({ values }) => values));
      await service.log(sent, part, lastValues);
      const stepSent = part.at(-1)?.step ?? sent.stepSent;
      sent = { ...sent, pointsSent: sent.pointsSent + part.length, stepSent, lastValues };
      await updateSent(db, tracked, sent);
    }
    if (ended) await service.end(sent, outcomeOf(workload.state), workload.endedAt ?? clock.now());
  }
  if (ended) await closeRun(db, tracked, { at: clock.now(), trouble: null });
}

async function begin(
  { db }: Pick<Services, 'db'>,
  tracked: TrackedRunRow,
  run: RunToLog,
  service: TrackingService,
): Promise<string> {
  const made = await service.begin(run);
  await updateRemoteRun(db, tracked, made);
  return made.remoteId;
}

function toPoint({ step, at, values }: Point): Point {
  return { step, at, values: namedValues(values) };
}

function outcomeOf(state: string): Outcome {
  if (state === 'stopped') return 'cancelled';
  return state === 'failed' ? 'failed' : 'completed';
}

/** Converts a run for the tracker. Parameters have the names of the API; lists and objects become JSON. */
function toRunToLog(
  { id, title, createdAt, base, dataset, fileName, parameters }: Run,
  asked: Integration | null,
): RunToLog {
  const named = Object.entries(parameters).flatMap(([name, value]) =>
    value == null ? [] : [[name, typeof value === 'object' ? JSON.stringify(value) : value]],
  );
  return {
    ...{ id, title: asked?.name ?? title, startedAt: createdAt },
    ...{ entity: asked?.entity ?? null, tags: asked?.tags ?? [] },
    parameters: {
      ...{ base_model: base.title, dataset: dataset.title, ...(fileName && { file_name: fileName }) },
      ...Object.fromEntries(named),
    },
  };
}
