import { randomUUID } from 'node:crypto';
import { deleteAsset, updateAsset } from '@bakehouse/contract/assets';
import {
  type Deployment,
  deployVllm,
  listVllm,
  vllmMetrics,
  vllmProgress,
  vllmStats,
} from '@bakehouse/contract/deployments/text';
import { getWork } from '@bakehouse/contract/work';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { TestUser } from '../../testing/test-server.ts';
import { costMicro } from '../billing/prices/cost.ts';
import { defaultPrice } from '../billing/prices/default-price.ts';
import { starterServing } from './testing/starter-serving.ts';
import { insertModel } from './testing/test-models.ts';

const hourCost = costMicro([{ price: defaultPrice('text_serving:CPU'), parts: 3_600_000n }]);

const {
  serving,
  stub,
  server,
  clock,
  driver,
  nextUser,
  openai,
  ask,
  makeFineTune,
  deploy,
  status,
  untilRunning,
  terminate,
  balance,
} = await starterServing();
let user: TestUser;

beforeEach(async () => {
  user = await nextUser();
});

describe('a deployment', () => {
  it('shares one copy of the base: a second fine-tune starts while the first continues to answer', async () => {
    const first = await deploy(await makeFineTune(user, 'First Tune'));
    await untilRunning(first.pod_id);
    let open = () => {};
    stub.gate = new Promise((resolve) => {
      open = resolve;
    });
    const second = await deploy(await makeFineTune(user, 'Second Tune'));
    await vi.waitFor(async () => expect((await status(second.pod_id)).status).toBe('deploying'));
    expect((await status(first.pod_id)).status).toBe('running');
    await ask('first-tune');
    open();
    await untilRunning(second.pod_id);
    await ask('second-tune');
    await ask('first-tune');
    const [third, fourth] = stub.requests
      .slice(-2)
      .map((request) => request.lora as { id: number; scale: number }[]);
    const chosen = (lora: typeof third) => lora?.filter(({ scale }) => scale === 1).map(({ id }) => id);
    expect(chosen(third)).toHaveLength(1);
    expect(chosen(third)).not.toEqual(chosen(fourth));
    await vi.waitFor(() => expect(driver.running()).toHaveLength(1));
    const [launch] = driver.running();
    expect(launch?.spec.inputs.filter(({ name }) => name === 'base_model')).toHaveLength(1);
    await terminate(first.pod_id);
    await terminate(second.pod_id);
  });

  it("of another user's model continues after the model was made private, but no longer shows its name", async () => {
    const owner = user;
    const id = await makeFineTune(owner, 'Shared Tune');
    const publish = (is_published: boolean) =>
      server.request(updateAsset, { params: { id }, body: { is_published } }, { as: owner });
    await publish(true);
    const other = await nextUser();
    const { pod_id } = await deploy(id, other);
    await untilRunning(pod_id, other);
    await publish(false);
    await ask('shared-tune', other);
    const again = server.request(
      deployVllm,
      { body: { model_id: id, user_id: other.userId } },
      { as: other, idempotencyKey: randomUUID() },
    );
    await expect(again).rejects.toMatchObject({ status: 404 });
    const remove = () => server.request(deleteAsset, { params: { id } }, { as: owner });
    await expect(remove()).rejects.toMatchObject({
      status: 409,
      body: { error: { message: expect.stringMatching(/^A deployment of another user uses it\./) } },
    });
    await terminate(pod_id, other);
    await remove();
  });

  it('gets a unique name if titles are equal', async () => {
    const [one, other] = [await makeFineTune(user, 'Same Name'), await makeFineTune(user, 'Same name!')];
    const first = await deploy(one);
    const second = await deploy(other);
    const { pods } = await server.request(
      listVllm,
      { params: { userId: user.userId }, query: {} },
      { as: user },
    );
    expect(pods.map((pod) => pod.model_name).sort()).toEqual(['same-name', 'same-name-2']);
    await terminate(first.pod_id);
    await terminate(second.pod_id);
  });

  it('never gets the name of a generator, which the images API would resolve to an external service', async () => {
    const { pod_id } = await deploy(await makeFineTune(user, 'FLUX'));
    expect((await status(pod_id)).model_name).toBe('flux-2');
    await terminate(pod_id);
  });

  it('accepts its name in any Unicode normalisation', async () => {
    const { pod_id } = await deploy(await makeFineTune(user, '빵집 봇'));
    await untilRunning(pod_id);
    for (const form of ['NFC', 'NFD'] as const) {
      const name = '빵집-봇'.normalize(form);
      expect((await ask(name)).model).toBe('빵집-봇');
      expect((await openai().models.retrieve(name)).id).toBe('빵집-봇');
    }
    await terminate(pod_id);
  });

  it('is listed page by page, each once, and by its model', async () => {
    const models = await Promise.all(['One', 'Two', 'Three'].map((title) => makeFineTune(user, title)));
    for (const model of models) await terminate((await deploy(model)).pod_id);
    const list = (query: object) =>
      server.request(
        listVllm,
        { params: { userId: user.userId }, query: { include_terminated: 'true', ...query } },
        { as: user },
      );
    const all = (await list({ limit: 100 })).pods.map((pod) => pod.pod_id);
    const pagesOf = async (query: object) => {
      const paged: Deployment[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await list({ ...query, limit: 2, cursor });
        paged.push(...page.pods);
        cursor = page.next_cursor;
      }
      return paged;
    };
    expect((await pagesOf({})).map((pod) => pod.pod_id)).toEqual(all);
    const byTitle = (await pagesOf({ sort: 'title' })).map((pod) => pod.title.toLowerCase());
    expect(byTitle).toHaveLength(all.length);
    expect(byTitle).toEqual(byTitle.toSorted());
    expect((await list({ model_id: models[1] })).pods.map((pod) => pod.title)).toEqual(['Two']);
    await expect(list({ cursor: randomUUID() })).rejects.toThrow(/cursor must be the next_cursor/);

    const found = async (query: object) => (await list(query)).pods.map((pod) => [pod.title, pod.job_status]);
    clock.advance({ minutes: 61 });
    const four = await deploy(await makeFineTune(user, 'Four'));
    // Deployments that ended more than an hour ago are no longer listed as work.
    const work = await server.request(getWork, {}, { as: user });
    expect(work.deployments.map(({ title }) => title)).toEqual(['Four']);
    const ended = await found({ status: 'terminated' });
    expect(new Set(ended.map(([title]) => title))).toEqual(new Set(['One', 'Two', 'Three']));
    expect(await found({ status: 'failed' })).toEqual([]);
    await untilRunning(four.pod_id);
    expect(await found({ status: 'running' })).toEqual([['Four', 'Running']]);
    expect(await found({ search: 'TWO' })).toEqual([['Two', null]]);
    expect(await found({ search: '%' })).toEqual([]);
    await expect(list({ status: 'gone' })).rejects.toThrow(
      'status must be one of running, sleeping, failed, terminated',
    );
  });

  it('defaults to one replica on one GPU of the default type, and is listed with its fields', async () => {
    const model_id = await makeFineTune(user, 'By Default');
    expect(deployVllm.body?.parse({ model_id, user_id: user.userId })).toMatchObject({
      ...{ gpu_count: 1, instance_type: 'a100', auto_scale: false, min_replicas: 1, max_replicas: 1 },
    });
    const made = await deploy(model_id);
    await untilRunning(made.pod_id);
    const { pods } = await server.request(
      listVllm,
      { params: { userId: user.userId }, query: {} },
      { as: user },
    );
    expect(pods).toEqual([
      expect.objectContaining({
        pod_id: made.pod_id,
        deployment_id: made.pod_id,
        model_id,
        status: 'running',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        instance_type: 'a100',
        progress: 100,
      }),
    ]);
    await terminate(made.pod_id);
  });

  it('is created once per Idempotency-Key', async () => {
    const model = await makeFineTune(user, 'Only Once');
    const key = randomUUID();
    const [one, other] = await Promise.all([deploy(model, user, key), deploy(model, user, key)]);
    expect(one).toEqual(other);
    expect((await balance()).held).toBe(hourCost);
    await terminate(one.pod_id);
  });

  it('fails with the reason of its server, and is not charged', async () => {
    stub.failure = 'The adapter does not fit the base model';
    const before = await balance();
    const { pod_id } = await deploy(await makeFineTune(user, 'Broken Adapter'));
    await vi.waitFor(
      async () => {
        // The engine retries with growing pauses before the deployment fails.
        clock.advance({ minutes: 5 });
        await server.app.engine.pass();
        expect((await status(pod_id)).status).toBe('failed');
      },
      { interval: 50 },
    );
    expect(await status(pod_id)).toMatchObject({
      reason: expect.stringContaining('does not fit'),
      cost_so_far: '0',
    });
    await vi.waitFor(async () => expect(await balance()).toEqual(before));
  });

  it('leaves slots for the starter model, however many bases one or several users deploy', async () => {
    const pods: string[] = [];
    const deployBase = async (name: string) => {
      const { assetId } = await insertModel(server.services, user, name, {
        'model.gguf': `weights of ${name}`,
      });
      pods.push((await deploy(assetId)).pod_id);
    };
    const others = await Promise.all([server.signUp(), server.signUp()]);
    const deployOther = async (other: TestUser, name: string) => {
      const { assetId } = await insertModel(server.services, other, name, {
        'model.gguf': `weights of ${name}`,
      });
      return serving.deploy(other, assetId);
    };
    await deployBase('Wheat');
    await deployBase('Spelt');
    await expect(deployBase('Barley')).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('and you keep 2'),
    });
    const [bob, eve] = others;
    const rye = await deployOther(bob, 'Rye');
    await expect(deployOther(eve, 'Oats')).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('beside the starter models'),
    });
    pods.push((await deploy(await makeFineTune(user, 'On The Starter'))).pod_id);
    for (const pod of pods) await terminate(pod);
    await serving.terminate(bob, rye);
  });

  it('prevents the deletion of its model', async () => {
    const model = await makeFineTune(user, 'Kept Model');
    const { pod_id } = await deploy(model);
    await expect(server.request(deleteAsset, { params: { id: model } }, { as: user })).rejects.toMatchObject({
      status: 409,
    });
    await terminate(pod_id);
    await server.request(deleteAsset, { params: { id: model } }, { as: user });
  });

  it('returns progress, metrics and totals', async () => {
    const { pod_id } = await deploy(await makeFineTune(user, 'Measured'));
    await untilRunning(pod_id);
    await ask('measured');
    stub.answer = 'crash';
    await expect(ask('measured')).rejects.toMatchObject({ status: 503 });
    const as = { as: user };
    const params = { podId: pod_id };
    expect(await server.request(vllmProgress, { params }, as)).toMatchObject({
      progress: 100,
      status: 'running',
    });
    await vi.waitFor(async () => {
      const { points } = await server.request(vllmMetrics, { params, query: {} }, as);
      expect(points).toHaveLength(1);
      expect(points[0]).toMatchObject({ requests: 2, errors: 1, prompt_tokens: 11, completion_tokens: 4 });
    });
    const sums = await server.request(vllmStats, { params: { userId: user.userId } }, as);
    expect(sums).toMatchObject({ running: 1, requests: 2, completion_tokens: 4 });
    await terminate(pod_id);
  });

  it("returns 404 for another user's pod", async () => {
    const { pod_id } = await deploy(await makeFineTune(user, 'Private'));
    const stranger = await server.signUp();
    await expect(status(pod_id, stranger)).rejects.toMatchObject({ status: 404 });
    await expect(terminate(pod_id, stranger)).rejects.toMatchObject({ status: 404 });
    await expect(ask('private', stranger)).rejects.toMatchObject({ status: 404 });
    await expect(deploy(await makeFineTune(user, 'Not Yours'), stranger)).rejects.toMatchObject({
      status: 404,
    });
    await terminate(pod_id);
  });
});
