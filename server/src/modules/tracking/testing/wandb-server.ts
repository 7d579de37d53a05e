import { type Asked, jsonServer } from './json-server.ts';

type Upsert = {
  name: string;
  project: string;
  entity: string | null;
  displayName: string;
  config: string;
  tags: string[];
};
type File = { offset: number; content: string[] };

export type WandbRun = {
  displayName: string;
  entity: string;
  tags: string[];
  config: Record<string, unknown>;
  history: Record<string, number>[];
  summary: Record<string, number>;
  exitcode: number | null;
};

/** For tests: a Weights & Biases server with the calls that its SDK makes. */
export async function wandbServer() {
  const service = {
    key: 'wandb-key-of-ada',
    /** Runs by their project and id. */
    runs: {} as Record<string, WandbRun>,
    /** If set, queries return this GraphQL error. */
    error: null as { message: string; extensions?: { code: string } } | null,
    /** If true, the next request is processed but gets no answer. */
    losesAnswer: false,
  };
  const server = await jsonServer((asked) => {
    const isHers = asked.authorization === `Basic ${Buffer.from(`api:${service.key}`).toString('base64')}`;
    if (!isHers) return { status: 401 };
    const answer =
      asked.path === '/graphql' ? answerQuery(service, asked) : receiveStream(service.runs, asked);
    if (!service.losesAnswer) return answer;
    service.losesAnswer = false;
    return { status: 502 };
  });
  return Object.assign(service, server);
}

/** Teams of its user. */
const TEAMS = ['bakery', 'millers'];

function answerQuery(
  { runs, error }: { runs: Record<string, WandbRun>; error: object | null },
  { body }: Asked,
) {
  if (error) return { body: { data: null, errors: [error] } };
  if (String(body.query).includes('viewer'))
    return { body: { data: { viewer: { username: 'ada', entity: 'bakery' } } } };
  const { name, project, displayName, config, tags, entity } = body.variables as Upsert;
  const owner = entity ?? 'bakery';
  if (!TEAMS.includes(owner)) return { status: 403, body: { errors: [{ message: 'permission denied' }] } };
  const key = `${project}/${name}`;
  runs[key] = {
    ...{ history: [], summary: {}, exitcode: null },
    ...runs[key],
    ...{ displayName, entity: owner, tags, config: JSON.parse(config) as Record<string, unknown> },
  };
  const bucket = { name, project: { name: project, entity: { name: owner } } };
  return { body: { data: { upsertBucket: { bucket } } } };
}

function receiveStream(runs: Record<string, WandbRun>, { path, body }: Asked) {
  const key = /^\/files\/[^/]+\/(.+)\/file_stream$/.exec(decodeURIComponent(path))?.[1] ?? '';
  const run = runs[key];
  if (!run) return { status: 404 };
  const {
    files = {},
    complete,
    exitcode,
  } = body as {
    files?: Record<string, File>;
    complete?: boolean;
    exitcode?: number;
  };
  const lines = files['wandb-history.jsonl'];
  if (lines) {
    const parsed = lines.content.map((line) => JSON.parse(line) as Record<string, number>);
    run.history.splice(lines.offset, parsed.length, ...parsed);
  }
  const summary = files['wandb-summary.json']?.content.at(-1);
  if (summary) run.summary = JSON.parse(summary) as Record<string, number>;
  if (complete) run.exitcode = exitcode ?? null;
  return {};
}
