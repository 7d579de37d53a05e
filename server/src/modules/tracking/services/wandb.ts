import * as z from 'zod';
import {
  type Access,
  callTracker,
  type Outcome,
  type Point,
  RunRefused,
  type RunToLog,
  ServiceRefused,
  ServiceUnavailable,
  type TrackingService,
} from './tracking-service.ts';

/** Exit codes that the SDK reports for a run. */
const EXIT_CODES: Record<Outcome, number> = { completed: 0, failed: 1, cancelled: 255 };

const VIEWER = 'query Viewer { viewer { username entity } }';
const UPSERT = `mutation UpsertBucket(
  $name: String, $project: String, $entity: String, $displayName: String, $config: JSONString, $tags: [String!]
) {
  upsertBucket(input: {
    name: $name, modelName: $project, entityName: $entity, displayName: $displayName, config: $config, tags: $tags
  }) {
    bucket { name project { name entity { name } } }
  }
}`;

const viewer = z.object({ viewer: z.object({ username: z.string() }).nullable() });
const bucket = z.object({
  upsertBucket: z.object({
    bucket: z.object({
      name: z.string(),
      project: z.object({ name: z.string(), entity: z.object({ name: z.string() }) }),
    }),
  }),
});
const graphql = z.object({
  data: z.unknown(),
  errors: z
    .array(
      z.object({
        message: z.string(),
        extensions: z.object({ code: z.string() }).optional().catch(undefined),
      }),
    )
    .optional(),
});
type GraphqlError = NonNullable<z.output<typeof graphql>['errors']>[number];

/**
 * Client of Weights & Biases. It makes the same calls as the SDK: GraphQL for runs, and `file_stream` for
 * their history. Both are idempotent: a run is created by its id, and a repeated line overwrites the line
 * with the same number.
 */
export function wandb(access: Access, { project }: { project: string }): TrackingService {
  async function query<Data extends z.ZodType>(
    schema: Data,
    text: string,
    variables: object,
  ): Promise<z.output<Data>> {
    const { answer } = await callTracker(access, { path: '/graphql', body: { query: text, variables } });
    const { data, errors } = graphql.safeParse(answer).data ?? {};
    if (errors?.[0]) throw refusalOf(errors[0], access.name);
    const parsed = schema.safeParse(data);
    if (parsed.success) return parsed.data;
    throw new ServiceUnavailable(`${access.name} gave an unexpected answer`, { cause: parsed.error });
  }
  async function stream(remoteId: string, body: object): Promise<void> {
    const { status } = await callTracker(access, { path: `/files/${remoteId}/file_stream`, body });
    if (status === 404) throw new RunRefused(`${access.name} no longer has this run`);
  }
  return {
    check: async () => {
      const { viewer: who } = await query(viewer, VIEWER, {});
      if (who === null) throw new ServiceRefused(`${access.name} does not accept this API key`);
      return who.username;
    },
    begin: async (run) => {
      const { upsertBucket } = await query(bucket, UPSERT, {
        ...{ name: run.id, project, entity: run.entity, displayName: run.title },
        tags: [...new Set(['bakehouse', ...run.tags])],
        config: JSON.stringify(toConfig(run)),
      });
      const { name, project: there } = upsertBucket.bucket;
      const [entity, inProject, runName] = [there.entity.name, there.name, name].map(encodeURIComponent);
      return {
        remoteId: `${entity}/${inProject}/${runName}`,
        url: `${appOrigin(access.url)}/${entity}/${inProject}/runs/${runName}`,
      };
    },
    log: async ({ remoteId, pointsSent }, points, lastValues) => {
      await stream(remoteId, {
        files: {
          'wandb-history.jsonl': { offset: pointsSent, content: points.map(toLine) },
          'wandb-summary.json': { offset: 0, content: [JSON.stringify(lastValues)] },
        },
      });
    },
    end: async ({ remoteId }, outcome) => {
      await stream(remoteId, { complete: true, exitcode: EXIT_CODES[outcome] });
    },
  };
}

/**
 * Returns the error for a refused key, a refused run (e.g. a team without access), or else a temporary error.
 */
function refusalOf({ message, extensions }: GraphqlError, name: string): Error {
  const isOfKey =
    extensions?.code === 'UNAUTHENTICATED' ||
    /unauthenticated|not (?:logged|signed) in|api key/i.test(message);
  if (isOfKey) return new ServiceRefused(`${name} does not accept this API key`);
  const isOfRun = /permission|forbidden|not.?found|invalid|denied|not allowed|user_input/i.test(
    `${extensions?.code ?? ''} ${message}`,
  );
  return isOfRun
    ? new RunRefused(`${name} refused the run: ${message}`)
    : new ServiceUnavailable(`${name} answered with an error: ${message}`);
}

/** The service expects each setting as an object with a `value`. */
function toConfig({ parameters }: RunToLog) {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, { value }]));
}

function toLine({ step, at, values }: Point): string {
  return JSON.stringify({ ...values, _step: step, _timestamp: at.getTime() / 1000 });
}

/** Returns the address of the web app. It differs from the API's only at wandb.ai. */
function appOrigin({ origin }: URL): string {
  return origin.replace(/^https:\/\/api\.wandb\.ai$/, 'https://wandb.ai');
}
