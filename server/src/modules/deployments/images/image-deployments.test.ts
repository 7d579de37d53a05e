import { randomUUID } from 'node:crypto';
import { getImageDeployment, imageCalls } from '@bakehouse/contract/deployments/images';
import { acceptLicence, licences } from '@bakehouse/contract/licences';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { unlisted } from '../../../engine/testing/test-gpus.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { type TestServing, testServing } from '../../../testing/test-serving.ts';
import { availableMicro } from '../../billing/ledger/available-micro.ts';
import { hold } from '../../billing/ledger/holds/holds.ts';
import { costMicro } from '../../billing/prices/cost.ts';
import { defaultPrice } from '../../billing/prices/default-price.ts';
import { endDeployment } from '../end-deployment.ts';
import { listLivePodIds } from '../kinds/list-live-pod-ids.ts';
import { insertFlux } from '../testing/test-models.ts';

const NON_COMMERCIAL = '---\nlicense: other\nlicense_name: flux-1-dev-non-commercial-license\n---\n';
const LICENCE = 'flux-1-dev-non-commercial';
/** Time for the engine's retries, whose pauses grow. */
const WAIT = { timeout: 300_000 };
const hourCost = costMicro([{ price: defaultPrice('image_serving:CPU'), parts: 3_600_000n }]);

const serving = await testServing();
const { server, stub, clock } = serving;
let ada: TestUser;

beforeEach(async () => {
  stub.failure = null;
  stub.gate = Promise.resolve();
  ada = await server.signUp();
});

afterEach(async () => {
  const { db } = server.services;
  for (const podId of await listLivePodIds(db, ada.userId))
    await endDeployment(server.services, podId, { reason: 'The test has ended', endedBy: null });
});

const callsOf = ({ server: one }: Pick<TestServing, 'server'>, user: TestUser) => ({
  deployFlux: (body: { model_id: string } & object, idempotencyKey?: string) =>
    one.request(
      imageCalls.flux.deploy,
      { body: { user_id: user.userId, ...body } },
      { as: user, idempotencyKey },
    ),
  deployKontext: (body: { model_id: string } & object) =>
    one.request(imageCalls['flux-kontext'].deploy, { body: { user_id: user.userId, ...body } }, { as: user }),
  quote: (model_id: string) =>
    one.request(imageCalls.flux.quote, { body: { model_id, user_id: user.userId } }, { as: user }),
  listFlux: async (query: object = {}) =>
    (await one.request(imageCalls.flux.list, { params: { userId: user.userId }, query }, { as: user }))
      .deployments,
  listKontext: async (query: object = {}) =>
    (
      await one.request(
        imageCalls['flux-kontext'].list,
        { params: { userId: user.userId }, query },
        { as: user },
      )
    ).deployments,
  get: (podId: string) => one.request(getImageDeployment, { params: { podId } }, { as: user }),
  terminate: (podId: string) =>
    one.request(
      imageCalls.flux.terminate,
      { params: { podId }, query: { user_id: user.userId } },
      { as: user },
    ),
  terminateKontext: (podId: string) =>
    one.request(
      imageCalls['flux-kontext'].terminate,
      { params: { podId }, query: { user_id: user.userId } },
      { as: user },
    ),
  accept: () => {
    const body = { user_id: user.userId, licence: LICENCE, version: licences[LICENCE].version } as const;
    return one.request(acceptLicence, { body }, { as: user });
  },
});
const calls = () => callsOf(serving, ada);
const untilRunning = (podId: string) =>
  vi.waitFor(
    async () =>
      expect(await calls().get(podId)).toMatchObject({ status: 'running', ready_at: expect.any(String) }),
    { interval: 50 },
  );
const noneHeld = () => vi.waitFor(async () => expect((await serving.balance(ada)).held).toBe(0n));

describe('a deployment of an image model', () => {
  test('is deployed, runs, is charged by the hour and leaves the list when it ends', async () => {
    const before = await serving.balance(ada);
    const { assetId } = await insertFlux(server.services, ada, 'My Editor');
    let open = () => {};
    stub.gate = new Promise((resolve) => {
      open = resolve;
    });
    const made = await calls().deployKontext({ model_id: assetId });
    expect(made).toEqual({
      pod_id: made.deployment_id,
      deployment_id: expect.any(String),
      created_at: expect.any(String),
    });
    await vi.waitFor(
      async () => expect(await calls().listKontext()).toMatchObject([{ status: 'deploying' }]),
      10_000,
    );
    expect(await calls().listKontext({ only_running: 'true' })).toEqual([]);
    expect(await calls().listFlux()).toEqual([]);
    open();
    await untilRunning(made.pod_id);
    const url = new URL(`/v1/deployments/${made.pod_id}`, server.services.config.publicUrl).href;
    const [shown] = await calls().listKontext({ only_running: 'true' });
    expect(shown).toMatchObject({
      kind: 'flux-kontext',
      model_id: assetId,
      model_name: 'my-editor',
      status: 'running',
      pod_status: { status: 'running' },
      current_status: { status: 'running' },
      device: 'CPU',
      inference_url: url,
      endpoint_url: new URL('/v1', server.services.config.publicUrl).href,
      deployment_details: { base_url: url, gpu_count: 0 },
    });
    expect(await calls().get(made.pod_id)).toEqual(shown);
    expect(serving.driver.running().map(({ spec }) => spec)).toMatchObject([
      { kind: 'serve', task: 'image', engine: 'kontext', gpus: 0 },
    ]);
    expect((await serving.balance(ada)).held).toBe(hourCost);

    clock.advance({ minutes: 1 });
    const ended = await calls().terminate(made.pod_id);
    expect(ended).toMatchObject({ status: 'stopped', inference_url: null, endpoint_url: null });
    expect(await calls().listKontext()).toEqual([]);
    expect(await calls().listKontext({ include_terminated: 'true' })).toMatchObject([{ status: 'stopped' }]);
    await noneHeld();
    const minute = costMicro([{ price: defaultPrice('image_serving:CPU'), parts: 60_000n }]);
    expect(before.balance - (await serving.balance(ada)).balance).toBe(minute);
  });

  test('fails with the reason of its server, costs nothing, and is listed for a day', WAIT, async () => {
    const before = await serving.balance(ada);
    stub.failure = 'The model in model is damaged';
    const { assetId } = await insertFlux(server.services, ada, 'Broken');
    const { pod_id } = await calls().deployFlux({ model_id: assetId });
    await vi.waitFor(
      async () => {
        clock.advance({ minutes: 5 });
        await server.app.engine.pass();
        expect(await calls().listFlux()).toMatchObject([
          { pod_id, status: 'failed', reason: expect.stringContaining('is damaged'), cost_so_far: '0' },
        ]);
      },
      { interval: 50 },
    );
    await vi.waitFor(async () => expect(await serving.balance(ada)).toEqual(before));
    clock.advance({ minutes: 25 * 60 });
    expect(await calls().listFlux()).toEqual([]);
  });

  test('that ended for lack of credit is listed for a day with the reason', async () => {
    const { assetId } = await insertFlux(server.services, ada, 'Too Long');
    const { pod_id } = await calls().deployFlux({ model_id: assetId });
    await untilRunning(pod_id);
    const reason = 'You ran out of credit.';
    await endDeployment(server.services, pod_id, { reason, endedBy: null, stopReason: 'credits' });
    const stopped = { pod_id, status: 'stopped', reason, stop_reason: 'credits' };
    expect(await calls().listFlux()).toMatchObject([stopped]);
    expect(await calls().listFlux({ only_running: 'true' })).toEqual([]);
    clock.advance({ minutes: 25 * 60 });
    expect(await calls().listFlux()).toEqual([]);
  });

  test('restarts if its process is killed', WAIT, async () => {
    const { assetId } = await insertFlux(server.services, ada, 'Killed');
    const { pod_id } = await calls().deployFlux({ model_id: assetId });
    await untilRunning(pod_id);
    // Wait until the model server of the previous test has ended.
    await vi.waitFor(() => expect(serving.driver.running()).toHaveLength(1));
    const [launch] = serving.driver.running();
    if (!launch) throw new Error('nothing runs');
    await serving.driver.kill(launch.workloadId, launch.attempt);
    await vi.waitFor(
      async () => {
        clock.advance({ seconds: 10 });
        await server.app.engine.pass();
        expect(serving.driver.running()).toMatchObject([{ attempt: launch.attempt + 1 }]);
        expect((await calls().get(pod_id)).status).toBe('running');
      },
      { interval: 50 },
    );
  });

  test('is created once per Idempotency-Key, and not without credit for an hour', async () => {
    const { assetId } = await insertFlux(server.services, ada, 'Once');
    const key = randomUUID();
    const one = await calls().deployFlux({ model_id: assetId }, key);
    expect(await calls().deployFlux({ model_id: assetId }, key)).toEqual(one);
    await calls().terminate(one.pod_id);
    await noneHeld();

    await inTransaction(server.services.db, async (tx) =>
      hold(tx, {
        userId: ada.userId,
        amountMicro: await availableMicro(tx, ada.userId),
        kind: 'fine_tuning',
        description: 'All of it',
        expiresAt: new Date(clock.now().getTime() + 3_600_000),
        idempotencyKey: `all:${ada.userId}`,
      }),
    );
    await expect(calls().deployFlux({ model_id: assetId })).rejects.toMatchObject({
      status: 402,
      body: { error: { code: 'insufficient_funds', required_amount: expect.any(String) } },
    });
    expect(await calls().listFlux()).toEqual([]);
  });

  test('is found by a part of its name, including ended ones', async () => {
    const [rye, spelt] = [
      await insertFlux(server.services, ada, 'Rye Painter'),
      await insertFlux(server.services, ada, 'Spelt Painter'),
    ];
    const { pod_id } = await calls().deployFlux({ model_id: rye.assetId });
    const other = await calls().deployFlux({ model_id: spelt.assetId });
    const found = async (query: object) =>
      (await calls().listFlux(query)).map((one) => one.pod_id).toSorted();
    expect(await found({ search: 'painter' })).toEqual([other.pod_id, pod_id].toSorted());
    expect(await found({ search: 'rye' })).toEqual([pod_id]);
    await calls().terminate(pod_id);
    expect(await found({ search: 'rye' })).toEqual([]);
    expect(await found({ search: 'rye', include_terminated: 'true' })).toEqual([pod_id]);
    await calls().terminate(other.pod_id);
  });

  test('is invisible to other users and to the calls of text deployments', async () => {
    const { assetId } = await insertFlux(server.services, ada, 'Private');
    const { pod_id } = await calls().deployFlux({ model_id: assetId });
    const bob = callsOf(serving, await server.signUp());
    await expect(bob.get(pod_id)).rejects.toMatchObject({ status: 404 });
    await expect(bob.terminate(pod_id)).rejects.toMatchObject({ status: 404 });
    await expect(bob.deployFlux({ model_id: assetId })).rejects.toMatchObject({ status: 404 });
    expect(await bob.listFlux()).toEqual([]);
    await expect(serving.status(ada, pod_id)).rejects.toMatchObject({ status: 404 });
    // Only the path of its own kind finds the deployment.
    await expect(calls().terminateKontext(pod_id)).rejects.toMatchObject({ status: 404 });
    expect(await calls().terminate(pod_id)).toMatchObject({ status: 'stopped' });
  });
});

describe('a licence', () => {
  test('must be accepted by each user before deploying a model with this licence', async () => {
    const { assetId } = await insertFlux(server.services, ada, 'Licensed', { 'README.md': NON_COMMERCIAL });
    expect(await calls().quote(assetId)).toMatchObject({
      title: 'Licensed',
      licence: { licence: LICENCE, accepted_at: null, url: expect.stringContaining('https://') },
    });
    await expect(calls().deployFlux({ model_id: assetId })).rejects.toMatchObject({
      status: 409,
      body: {
        error: {
          code: 'licence_not_accepted',
          param: 'model_id',
          message:
            'Licensed is under the FLUX.1 [dev] Non-Commercial License. Accept it before you deploy the model',
        },
      },
    });
    expect(await calls().listFlux({ include_terminated: 'true' })).toEqual([]);
    expect((await serving.balance(ada)).held).toBe(0n);
    await calls().accept();
    expect((await calls().quote(assetId)).licence?.accepted_at).toEqual(expect.any(String));
    const { pod_id } = await calls().deployFlux({ model_id: assetId });
    await calls().terminate(pod_id);
  });

  test("is not required if the model's card names an open licence", async () => {
    const { assetId } = await insertFlux(server.services, ada, 'Open');
    expect(await calls().quote(assetId)).toMatchObject({ licence: null, device: 'CPU' });
  });
});

describe('a model', () => {
  test('is found by its name on a model hub', async () => {
    const hubName = 'black-forest-labs/FLUX.1-Kontext-dev';
    await expect(calls().deployKontext({ model_id: hubName })).rejects.toMatchObject({
      status: 409,
      body: {
        error: { message: expect.stringContaining(`You have no model ${hubName}. Upload its folder`) },
      },
    });
    const { assetId } = await insertFlux(server.services, ada, 'FLUX.1-Kontext-dev');
    const { pod_id } = await calls().deployKontext({ model_id: hubName });
    expect(await calls().get(pod_id)).toMatchObject({ model_id: assetId });
    await calls().terminateKontext(pod_id);
  });

  test('restricted by an operator can be deployed by users with access', async () => {
    const owner = await server.signUp();
    const { assetId } = await insertFlux(server.services, owner, 'Offered');
    const { db } = server.services;
    await sql`insert into restricted_models (id, name, family, tags, details, asset_id)
      values ('bakers/offered', 'Offered', 'flux', '{}', '', ${assetId})`.execute(db);
    await expect(calls().quote('bakers/offered')).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('is restricted. Request it'),
    });
    await sql`insert into access_requests (restricted_model_id, user_id, message, state)
      values ('bakers/offered', ${ada.userId}, '', 'granted')`.execute(db);
    expect(await calls().quote('bakers/offered')).toMatchObject({ title: 'Offered' });
  });

  test.each([
    [{ gpu_count: 2 }, 'gpu_count', 'gpu_count must be 1'],
    [{ auto_scale: true, max_replicas: 2 }, 'max_replicas', 'max_replicas must be 1'],
    [{ instance_type: 'b200' }, 'instance_type', 'instance_type must be one of'],
    [{ min_replicas: 0 }, 'min_replicas', 'must be 1 unless auto_scale is true'],
    [{ model_id: ' ' }, 'model_id', 'model_id is required'],
    [{ replicas: 1 }, null, 'Unknown field: replicas'],
  ])('is rejected for %j with the field', async (body, param, message) => {
    const { assetId } = await insertFlux(server.services, ada, 'Asked');
    await expect(calls().deployFlux({ model_id: assetId, ...body })).rejects.toMatchObject({
      status: 400,
      body: { error: { ...(param && { param }), message: expect.stringContaining(message) } },
    });
  });

  test('that is too large for the CPU names the GPU it needs, and runs on that GPU', async () => {
    const { db } = server.services;
    const { assetId } = await insertFlux(server.services, ada, 'Full Size');
    const grow = (one: TestServing['server'], id: string) =>
      sql`update asset_files set size_bytes = 33700000000 where asset_id = ${id} and path like 'transformer/%'`.execute(
        one.services.db,
      );
    await grow(server, assetId);
    const before = await serving.balance(ada);
    await expect(calls().deployFlux({ model_id: assetId })).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining(
        'Full Size needs a GPU with at least 38 GB of memory, and this server has none',
      ),
    });
    expect(await serving.balance(ada)).toEqual(before);
    expect(
      await db.selectFrom('deployments').select('id').where('user_id', '=', ada.userId).execute(),
    ).toEqual([]);

    const onGpu = await testServing({
      capacity: { 'cpu:deployment': 2, gpus: [unlisted('A Large GPU', 80, [0])] },
    });
    const bob = await onGpu.server.signUp();
    const { assetId: large } = await insertFlux(onGpu.server.services, bob, 'Full Size');
    await grow(onGpu.server, large);
    const hour = costMicro([{ price: defaultPrice('image_serving:GPU'), parts: 3_600_000n }]);
    const { pod_id } = await callsOf(onGpu, bob).deployFlux({ model_id: large });
    expect(await callsOf(onGpu, bob).get(pod_id)).toMatchObject({
      device: '1 x A Large GPU',
      deployment_details: { gpu_count: 1 },
    });
    expect((await onGpu.balance(bob)).held).toBe(hour);
  });
});
