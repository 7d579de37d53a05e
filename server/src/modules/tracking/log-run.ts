import { hasEnded } from '../../engine/model/has-ended.ts';
import { selectMetrics } from '../../engine/reports/select-metrics.ts';
import type { Services } from '../../platform/context.ts';
import type { Integration } from '../training/openai-jobs/find-integration.ts';
import { findOwnRun } from '../training/runs/find-own-run.ts';
import { namedValues } from './metric-name.ts';
import type { Outcome, Point, RunToLog, TrackingService } from './services/tracking-service.ts';
import { closeRun, type TrackedRunRow, updateMade, updateSent } from './tracked-run-queries.ts';

type Run = Awaited<ReturnType<typeof findOwnRun>>['run'];

/** Points of one request. */
const POINTS_MAX = 1_000;

/**
 * Logs what is new of a run, and its end. Before its first point nothing is made there. The newest point of a run at work
 * waits: its evaluation is reported after it. What a resumed run repeats is not logged again.
 */
export async function logRun(
  { db, clock }: Services,
  tracked: TrackedRunRow,
  service: TrackingService,
  asked: Integration | null,
): Promise<void> {
  // Before its points: whoever sees that it has ended also sees the last of them.
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
  await updateMade(db, tracked, made);
  return made.remoteId;
}

function toPoint({ step, at, values }: Point): Point {
  return { step, at, values: namedValues(values) };
}

function outcomeOf(state: string): Outcome {
  if (state === 'stopped') return 'cancelled';
  return state === 'failed' ? 'failed' : 'completed';
}

/** Its parameters by their names on the wire; lists as JSON. */
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
