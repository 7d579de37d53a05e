import { expect, it, vi } from 'vitest';
import type { RowChange, RowChanges } from '../../../platform/cache/row-changes.ts';
import { toJson } from '../../../platform/db/database.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { testServing } from '../../../testing/test-serving.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { insertFineTune, insertStarter } from '../../deployments/testing/test-models.ts';
import { createUpstreamCache } from './create-upstream-cache.ts';

const WAIT = { timeout: 20_000 };
const STARTER = 'starter-model';

const serving = await testServing();
const { server } = serving;
const starter = await insertStarter(server.services, STARTER);
const query = vi.spyOn(server.services.pool, 'query');

/** Returns the names of the database queries that run until the answer starts. */
async function askedFor(user: TestUser, model: string): Promise<unknown[]> {
  query.mockClear();
  const answer = await serving.ask(user, model, { stream: true });
  expect(answer.status).toBe(200);
  const first = await answer.body?.getReader().read();
  expect(first?.done).toBe(false);
  return query.mock.calls.map(([asked]) => (asked as { name?: string }).name ?? asked);
}

const perRequest = ['find_key_owners', 'find_upstream'];
const untilKept = (user: TestUser, model: string) =>
  vi.waitFor(async () => {
    const asked = await askedFor(user, model);
    for (const name of perRequest) expect(asked).not.toContain(name);
    return asked;
  }, WAIT);

it('queries the database neither for the API key nor for the model once both are cached', async () => {
  const user = await server.signUp();
  expect(await untilKept(user, STARTER)).toEqual(expect.any(Array));
});

it('queries the database for nothing before the first token once the usage window is open', async () => {
  const user = await server.signUp();
  await untilKept(user, STARTER);
  // Also counts queries that the pool runs itself.
  const connect = vi.spyOn(server.services.pool, 'connect');
  await vi.waitFor(
    async () => {
      const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
      // The answer is held open, because recording the request at its end needs the database.
      Object.assign(serving.stub, { answer: 'hold', held });
      connect.mockClear();
      await askedFor(user, STARTER);
      const asked = connect.mock.calls.length;
      goOn();
      // Background work also queries the database, so retry until a request runs without it.
      expect(asked).toBe(0);
    },
    { ...WAIT, interval: 300 },
  );
  serving.stub.answer = 'ok';
});

const carrier = (id: string) =>
  ({
    id,
    state: 'ready',
    base_url: 'http://there',
    server_key: null,
    adapter_names: [],
  }) as unknown as Upstream['workload'];
const known = {
  server_id: 'server',
  engine: 'llama',
  model_name: 'name',
  pod_id: 'pod',
  adapter: null,
  sleeping: false,
  workload: carrier('current'),
  next_workload: carrier('next'),
  replicas: [{ server_id: 'second server', workload: carrier('second') }],
} as unknown as Upstream;

it.each([
  ['deployment', 'name', true],
  ['deployment', 'another name', false],
  ['model_server', 'server', true],
  ['model_server', 'pod', true],
  ['model_server', 'another server', false],
  ['workload', 'current', true],
  ['workload', 'next', true],
  ['workload', 'second', true],
  ['workload', 'another workload', false],
  ['api_key', 'name', false],
])('a change of %s %s drops the upstream: %s', async (of, id, isForgotten) => {
  let change: Parameters<RowChanges['subscribe']>[0] = () => undefined;
  const recall = createUpstreamCache({
    areCurrent: () => true,
    count: () => 0,
    catchUp: async () => undefined,
    subscribe: (listener) => {
      change = listener;
      return () => undefined;
    },
  });
  const find = vi.fn(async () => known);
  const asked = { modelName: 'name', kind: 'text' } as const;
  await recall('ada', asked, find);
  change({ of, id });
  await recall('ada', asked, find);
  expect(find).toHaveBeenCalledTimes(isForgotten ? 2 : 1);
});

it('the database reports changes of deployments, model servers and workloads', async () => {
  const user = await server.signUp();
  const heard: (RowChange | null)[] = [];
  server.services.rowChanges.subscribe((change) => void heard.push(change));
  const podId = await serving.deploy(user, await insertFineTune(server.services, starter, user, 'Told'));
  await serving.untilRunning(user, podId);
  const { db } = server.services;
  const { model_name, server_id, workload_id } = await db
    .selectFrom('deployments')
    .innerJoin('model_servers as server', 'server.id', 'deployments.model_server_id')
    .select(['model_name', 'server.id as server_id', 'workload_id'])
    .where('deployments.id', '=', podId)
    .executeTakeFirstOrThrow();
  await db.updateTable('deployments').set({ model_name: 'told-otherwise' }).where('id', '=', podId).execute();
  await vi.waitFor(
    () =>
      expect(heard).toEqual(
        expect.arrayContaining([
          { of: 'deployment', id: model_name },
          { of: 'deployment', id: 'told-otherwise' },
          { of: 'model_server', id: server_id },
          { of: 'workload', id: workload_id },
        ]),
      ),
    WAIT,
  );
  heard.length = 0;
  // A new replica has its own model server, whose id no cached entry contains yet.
  const { id } = await db
    .insertInto('model_servers')
    .values({
      kind: 'text',
      engine: 'llamacpp',
      files_sha256: 'other',
      base_files: toJson([]),
      accelerator_count: 0,
      context_tokens: 8192,
      deployment_id: podId,
      replica: 2,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db.updateTable('model_servers').set({ engine: 'vllm' }).where('id', '=', id).execute();
  await vi.waitFor(() => expect(heard).toContainEqual({ of: 'model_server', id: podId }), WAIT);
});

it('resolves a name to a new deployment, and no longer after another process ends it', async () => {
  const user = await server.signUp();
  await untilKept(user, STARTER);
  const assetId = await insertFineTune(server.services, starter, user, 'Starter Model');
  const podId = await serving.deploy(user, assetId);
  await serving.untilRunning(user, podId);
  const { db } = server.services;
  const { model_name: name } = await db
    .selectFrom('deployments')
    .select('model_name')
    .where('id', '=', podId)
    .executeTakeFirstOrThrow();
  await untilKept(user, name);
  // Another process makes this change. This process only receives its notification.
  await db
    .updateTable('deployments')
    .set({ terminated_at: new Date(), reason: 'ended' })
    .where('id', '=', podId)
    .execute();
  await vi.waitFor(async () => expect((await serving.ask(user, name)).status).toBe(404), WAIT);
});
