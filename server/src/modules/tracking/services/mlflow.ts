import * as z from 'zod';
import {
  type Access,
  callTracker,
  type Outcome,
  type Point,
  RunRefused,
  ServiceUnavailable,
  type TrackingService,
} from './tracking-service.ts';

const API = '/api/2.0/mlflow';
/** Limits of one `log-batch` call. */
const METRICS_MAX = 1_000;
const PARAMS_MAX = 100;
const PARAM_LENGTH_MAX = 6_000;

const STATUSES: Record<Outcome, string> = { completed: 'FINISHED', failed: 'FAILED', cancelled: 'KILLED' };
/** Each run has this tag, by which a later call finds it. */
const RUN_TAG = 'bakehouse.run_id';

const found = z.object({ experiment: z.object({ experiment_id: z.string() }) });
const made = z.object({ experiment_id: z.string() });
const runInfo = z.object({ info: z.object({ run_id: z.string() }) });
const oneRun = z.object({ run: runInfo });
const runs = z.object({ runs: z.array(runInfo).default([]) });

/**
 * Client of an MLflow tracking server (REST API 2.0). The server stores equal values of the same step only
 * once.
 */
export function mlflow(access: Access, { project }: { project: string }): TrackingService {
  async function post<Answer extends z.ZodType>(
    schema: Answer,
    call: string,
    body: object,
  ): Promise<z.output<Answer>> {
    const { status, answer } = await callTracker(access, { path: `${API}/${call}`, body });
    if (status === 404) throw new RunRefused(`${access.name} no longer has this run or experiment`);
    const parsed = schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    throw new ServiceUnavailable(`${access.name} gave an unexpected answer`, { cause: parsed.error });
  }
  async function findExperiment(): Promise<string> {
    const path = `${API}/experiments/get-by-name`;
    const { answer } = await callTracker(access, { path, query: { experiment_name: project } });
    const there = found.safeParse(answer);
    if (there.success) return there.data.experiment.experiment_id;
    return (await post(made, 'experiments/create', { name: project })).experiment_id;
  }
  const update = (call: string, body: object) => post(z.unknown(), call, body);
  return {
    check: async () => {
      await findExperiment();
      return null;
    },
    begin: async ({ id, title, startedAt, parameters }) => {
      const experimentId = await findExperiment();
      const filter = `tags.\`${RUN_TAG}\` = '${id}'`;
      const before = await post(runs, 'runs/search', {
        experiment_ids: [experimentId],
        filter,
        max_results: 1,
      });
      const run =
        before.runs[0] ??
        (
          await post(oneRun, 'runs/create', {
            ...{ experiment_id: experimentId, run_name: title, start_time: startedAt.getTime() },
            tags: [{ key: RUN_TAG, value: id }],
          })
        ).run;
      const { run_id } = run.info;
      const params = Object.entries(parameters).slice(0, PARAMS_MAX);
      await update('runs/log-batch', {
        run_id,
        params: params.map(([key, value]) => ({ key, value: String(value).slice(0, PARAM_LENGTH_MAX) })),
      });
      const page = `#/experiments/${encodeURIComponent(experimentId)}/runs/${encodeURIComponent(run_id)}`;
      return { remoteId: run_id, url: `${access.url.href.replace(/\/$/, '')}/${page}` };
    },
    log: async ({ remoteId }, points) => {
      const metrics = points.flatMap(toMetrics);
      for (let start = 0; start < metrics.length; start += METRICS_MAX) {
        await update('runs/log-batch', {
          run_id: remoteId,
          metrics: metrics.slice(start, start + METRICS_MAX),
        });
      }
    },
    end: async ({ remoteId }, outcome, at) => {
      await update('runs/update', { run_id: remoteId, status: STATUSES[outcome], end_time: at.getTime() });
    },
  };
}

function toMetrics({ step, at, values }: Point) {
  return Object.entries(values).map(([key, value]) => ({ key, value, timestamp: at.getTime(), step }));
}
