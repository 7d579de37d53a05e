import { type Asked, jsonServer } from './json-server.ts';

type Metric = { key: string; value: number; timestamp: number; step: number };

export type MlflowRun = {
  run_id: string;
  name: string;
  status: string;
  tags: Record<string, string>;
  params: Record<string, string>;
  metrics: Metric[];
};

/** For tests: an in-memory MLflow tracking server. */
export async function mlflowServer() {
  const service = {
    /** Requests must have this authorization header. */
    authorization: 'Bearer mlflow-token-of-ada',
    experiments: {} as Record<string, string>,
    runs: [] as MlflowRun[],
    /** If true, the next request is processed but gets no answer. */
    losesAnswer: false,
  };
  const server = await jsonServer((asked) => {
    if (asked.authorization !== service.authorization) return { status: 403 };
    const answer = answerCall(service, asked);
    if (!service.losesAnswer) return answer;
    service.losesAnswer = false;
    return { status: 503 };
  });
  return Object.assign(service, server);
}

function answerCall(
  service: { experiments: Record<string, string>; runs: MlflowRun[] },
  { path, query, body }: Asked,
): { status?: number; body?: object } {
  const run = service.runs.find(({ run_id }) => run_id === body.run_id);
  const toInfo = ({ run_id }: MlflowRun) => ({ info: { run_id } });
  switch (path.replace('/api/2.0/mlflow/', '')) {
    case 'experiments/get-by-name': {
      const experiment_id = service.experiments[query.get('experiment_name') ?? ''];
      return experiment_id
        ? { body: { experiment: { experiment_id } } }
        : { status: 404, body: { error_code: 'RESOURCE_DOES_NOT_EXIST' } };
    }
    case 'experiments/create': {
      const experiment_id = String(Object.keys(service.experiments).length + 1);
      service.experiments[String(body.name)] = experiment_id;
      return { body: { experiment_id } };
    }
    case 'runs/search': {
      const id = /^tags\.`bakehouse\.run_id` = '(.+)'$/.exec(String(body.filter))?.[1];
      const found = service.runs.filter(({ tags }) => tags['bakehouse.run_id'] === id);
      return { body: found.length > 0 ? { runs: found.map(toInfo) } : {} };
    }
    case 'runs/create': {
      const tags = Object.fromEntries(
        (body.tags as { key: string; value: string }[]).map((tag) => [tag.key, tag.value]),
      );
      const made = { run_id: `m${service.runs.length + 1}`, name: String(body.run_name), status: 'RUNNING' };
      service.runs.push({ ...made, tags, params: {}, metrics: [] });
      return { body: { run: { info: { run_id: made.run_id } } } };
    }
    case 'runs/log-batch': {
      if (!run) return { status: 404, body: { error_code: 'RESOURCE_DOES_NOT_EXIST' } };
      for (const { key, value } of (body.params as { key: string; value: string }[] | undefined) ?? [])
        run.params[key] = value;
      for (const metric of (body.metrics as Metric[] | undefined) ?? []) {
        const isThere = run.metrics.some((one) => JSON.stringify(one) === JSON.stringify(metric));
        if (!isThere) run.metrics.push(metric);
      }
      return {};
    }
    case 'runs/update': {
      if (!run) return { status: 404 };
      run.status = String(body.status);
      return {};
    }
    default:
      return { status: 404 };
  }
}
