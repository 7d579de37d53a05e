import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { createApiKey } from '@bakehouse/contract/api-keys';
import { deleteAsset } from '@bakehouse/contract/assets';
import { chatCompletions } from '@bakehouse/contract/chat';
import { listTransactions } from '@bakehouse/contract/credits';
import { listVllm, vllmMetrics, vllmProgress, vllmStats } from '@bakehouse/contract/deployments';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import OpenAI from 'openai';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { storeBlob } from '../../platform/storage/store-blob.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { type TestServing, testServing } from '../../testing/test-serving.ts';
import { createRevisionFromBlobs } from '../assets/create-revision-from-blobs.ts';
import { readRevision } from '../assets/read-revision.ts';
import { revenueAccount, userAccount } from '../credits/accounts.ts';
import { transfer } from '../credits/ledger.ts';
import { costMicro } from '../credits/quote.ts';
import { meterDeployments } from './meter-deployments.ts';
import { stubUsage } from './stub-model-server.ts';
import { insertFineTune, insertModel, insertStarter } from './test-models.ts';

const STARTER = 'starter-model';
const requestCost = costMicro([
  { priceId: 'prompt_tokens:CPU', parts: BigInt(stubUsage.prompt_tokens) },
  { priceId: 'completion_tokens:CPU', parts: BigInt(stubUsage.completion_tokens) },
]);
const hourCost = costMicro([{ priceId: 'text_serving:CPU', parts: 3_600_000n }]);

let serving: TestServing;
let stub: TestServing['stub'];
let clock: TestServing['clock'];
let driver: TestServing['driver'];
let server: TestServing['server'];
let starter: { assetId: string; revisionId: string };
let user: TestUser;

beforeAll(async () => {
  serving = await testServing();
  ({ stub, clock, driver, server } = serving);
  starter = await insertStarter(server.services, STARTER);
});

beforeEach(async () => {
  stub.answer = 'ok';
  stub.failure = null;
  stub.brokenAdapter = null;
  stub.gate = Promise.resolve();
  stub.requests.length = 0;
  user = await server.signUp();
});

const openai = (as: TestUser = user) =>
  new OpenAI({ baseURL: `${server.url}/v1`, apiKey: as.apiKey, maxRetries: 0 });
const ask = (model: string, as: TestUser = user) =>
  openai(as).chat.completions.create({ model, messages: [{ role: 'user', content: 'What do you bake?' }] });

const makeFineTune = (owner: TestUser, title: string) =>
  insertFineTune(server.services, starter, owner, title);
const deploy = async (modelId: string, owner: TestUser = user, idempotencyKey?: string) => ({
  pod_id: await serving.deploy(owner, modelId, idempotencyKey),
});
const status = (podId: string, owner: TestUser = user) => serving.status(owner, podId);
const untilRunning = (podId: string, owner: TestUser = user) => serving.untilRunning(owner, podId);
const terminate = (podId: string, owner: TestUser = user) => serving.terminate(owner, podId);
const balance = (owner: TestUser = user) => serving.balance(owner);

describe('the starter model', () => {
  it('answers the openai client without a deployment, and charges the tokens', async () => {
    const before = await balance();
    const answer = await ask(STARTER);
    expect(answer.choices[0]?.message.content).toBe('Good bread.');
    expect(answer).toMatchObject({ model: STARTER, usage: stubUsage });
    await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
    expect((await balance()).balance).toBe(before.balance - requestCost);
  });

  it('streams, without the usage that the client did not ask for', async () => {
    const stream = await openai().chat.completions.create({
      model: STARTER,
      messages: [{ role: 'user', content: 'And?' }],
      stream: true,
    });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('Good bread.');
    expect(chunks.some((chunk) => chunk.usage)).toBe(false);
    await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
    const { transactions } = await server.request(
      listTransactions,
      { params: { userId: user.userId }, query: {} },
      { as: user },
    );
    expect(transactions[0]).toMatchObject({ amount: formatBgl(requestCost), asset_name: STARTER });
  });

  it('is listed for everybody, and found by its name', async () => {
    const { data } = await openai().models.list();
    expect(data.map((model) => model.id)).toEqual([STARTER]);
    expect(await openai().models.retrieve(STARTER)).toEqual(data[0]);
  });

  it("reads another user's prompt in full, and a user's own second turn not again", async () => {
    const asked = async (as: TestUser) => {
      await ask(STARTER, as);
      return stub.requests.at(-1);
    };
    const other = await server.signUp();
    const first = await asked(user);
    expect(first).toMatchObject({ cache_prompt: false });
    expect(await asked(user)).toMatchObject({ cache_prompt: true, id_slot: first?.id_slot });
    expect(await asked(other)).toMatchObject({ cache_prompt: false });
    // Another process has come: nobody knows any more who used a slot last.
    await sql`insert into gateways (id) values (gen_random_uuid())`.execute(server.services.db);
    await vi.waitFor(async () => expect(await asked(user)).toMatchObject({ cache_prompt: false }), {
      timeout: 30_000,
      interval: 500,
    });
    await sql`delete from gateways`.execute(server.services.db);
  });

  it('tells nothing of a cache', async () => {
    const text = JSON.stringify(await ask(STARTER));
    expect(text).not.toMatch(/cache|timings|prompt_tokens_details/);
  });

  it('completes plain texts too', async () => {
    await openai().completions.create({ model: STARTER, prompt: 'Bread is' });
    expect(stub.requests[0]).toMatchObject({ prompt: 'Bread is' });
  });

  it('is not mistaken for a model that is not there', async () => {
    await expect(ask('no-such-model')).rejects.toMatchObject({
      status: 404,
      param: 'model',
      code: 'not_found',
    });
  });
});

describe('a deployment', () => {
  it('serves a fine-tune as an adapter on the shared base, and settles its time', async () => {
    const { pod_id } = await deploy(await makeFineTune(user, 'Crumb Expert'));
    expect((await balance()).held).toBe(hourCost);
    await untilRunning(pod_id);
    const answer = await ask('crumb-expert');
    expect(answer.choices[0]?.message.content).toBe('Good bread.');
    expect(stub.requests.at(-1)?.lora).toContainEqual({ id: expect.any(Number), scale: 1 });

    clock.advance({ minutes: 1 });
    await meterDeployments(server.services);
    clock.advance({ minutes: 1 });
    const before = await balance();
    const ended = await terminate(pod_id);
    expect(ended).toMatchObject({ status: 'terminated', cost_so_far: '0.041667' });
    expect(await balance()).toEqual({ balance: before.balance - parseBgl('0.041667'), held: 0n });
    await expect(ask('crumb-expert')).rejects.toMatchObject({ status: 404 });
  });

  it('shares one copy of the base: a second fine-tune comes without a pause of the first', async () => {
    const first = await deploy(await makeFineTune(user, 'First Tune'));
    await untilRunning(first.pod_id);
    let open = () => {};
    stub.gate = new Promise((resolve) => {
      open = resolve;
    });
    const second = await deploy(await makeFineTune(user, 'Second Tune'));
    await vi.waitFor(async () => expect((await status(second.pod_id)).status).toBe('deploying'), {
      timeout: 10_000,
    });
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
    await vi.waitFor(() => expect(driver.running()).toHaveLength(1), { timeout: 10_000 });
    const [launch] = driver.running();
    expect(launch?.spec.inputs.filter(({ name }) => name === 'base_model')).toHaveLength(1);
    await terminate(first.pod_id);
    await terminate(second.pod_id);
  });

  it('gives deployments of the same title names of their own', async () => {
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
    const paged: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await list({ limit: 2, cursor });
      paged.push(...page.pods.map((pod) => pod.pod_id));
      cursor = page.next_cursor;
    }
    expect(paged).toEqual(all);
    expect((await list({ model_id: models[1] })).pods.map((pod) => pod.title)).toEqual(['Two']);
    await expect(list({ cursor: randomUUID() })).rejects.toThrow(/cursor must be the next_cursor/);
  });

  it('is made once per Idempotency-Key', async () => {
    const model = await makeFineTune(user, 'Only Once');
    const key = randomUUID();
    const [one, other] = await Promise.all([deploy(model, user, key), deploy(model, user, key)]);
    expect(one).toEqual(other);
    expect((await balance()).held).toBe(hourCost);
    await terminate(one.pod_id);
  });

  it('does not start for a user who cannot pay the first hour, and leaves nothing', async () => {
    const poor = await server.signUp();
    await server.services.db.transaction().execute(async (tx) => {
      await transfer(tx, {
        debitAccountId: userAccount(poor.userId),
        creditAccountId: revenueAccount('fine_tuning'),
        amountMicro: (await balance(poor)).balance - hourCost + 1n,
        kind: 'charge',
        description: 'All but too much',
        idempotencyKey: null,
      });
    });
    const model = await makeFineTune(poor, 'Too Dear');
    await expect(deploy(model, poor)).rejects.toMatchObject({
      status: 402,
      body: { error: { required_amount: '1.25', available_amount: '1.249999' } },
    });
    const { pods } = await server.request(
      listVllm,
      { params: { userId: poor.userId }, query: { include_terminated: 'true' } },
      { as: poor },
    );
    expect(pods).toEqual([]);
  });

  it('fails with the reason of its server, and is not charged', async () => {
    stub.failure = 'The adapter does not fit the base model';
    const before = await balance();
    const { pod_id } = await deploy(await makeFineTune(user, 'Broken Adapter'));
    await vi.waitFor(
      async () => {
        // The engine tries again with growing pauses before it gives up.
        clock.advance({ minutes: 5 });
        await server.app.engine.pass();
        expect((await status(pod_id)).status).toBe('failed');
      },
      { timeout: 30_000, interval: 50 },
    );
    expect(await status(pod_id)).toMatchObject({
      reason: expect.stringContaining('does not fit'),
      cost_so_far: '0',
    });
    await vi.waitFor(async () => expect(await balance()).toEqual(before));
  });

  it("is not ended by another user's broken adapter on the same base", async () => {
    const mallory = await server.signUp();
    let open = () => {};
    stub.gate = new Promise((resolve) => {
      open = resolve;
    });
    const good = await deploy(await makeFineTune(user, 'Good Loaf'));
    const bad = await makeFineTune(mallory, 'Bad Loaf');
    const { revision } = await readRevision(server.services.db, { assetId: bad, userId: mallory.userId });
    stub.brokenAdapter = revision.id;
    const broken = await deploy(bad, mallory);
    open();
    await vi.waitFor(
      async () => {
        clock.advance({ minutes: 1 });
        await server.app.engine.pass();
        expect((await status(broken.pod_id, mallory)).status).toBe('failed');
      },
      { timeout: 30_000, interval: 50 },
    );
    await untilRunning(good.pod_id);
    await vi.waitFor(async () => expect((await balance(mallory)).held).toBe(0n));
    await terminate(good.pod_id);
  });

  it('ends when the credit does', async () => {
    const guest = await server.signUp();
    const { pod_id } = await deploy(await makeFineTune(guest, 'Long Talk'), guest);
    await untilRunning(pod_id, guest);
    await server.services.db.transaction().execute(async (tx) => {
      const { balance: all, held } = await balance(guest);
      await transfer(tx, {
        debitAccountId: userAccount(guest.userId),
        creditAccountId: revenueAccount('fine_tuning'),
        amountMicro: all - held,
        kind: 'charge',
        description: 'Everything',
        idempotencyKey: null,
      });
    });
    // All but the last minutes of the hour that was held.
    await server.services.db
      .updateTable('deployments')
      .set({ unsettled_ms: 57n * 60_000n })
      .where('id', '=', pod_id)
      .execute();
    clock.advance({ minutes: 1 });
    await meterDeployments(server.services);
    const ended = await status(pod_id, guest);
    expect(ended).toMatchObject({
      status: 'terminated',
      reason: expect.stringContaining('Your credit has ended'),
    });
    const left = await balance(guest);
    expect(left.held).toBe(0n);
    expect(left.balance).toBe(hourCost - parseBgl(ended.cost_so_far));
  });

  it('ends with the budget of the API key that made it, in whose words', async () => {
    const guest = await server.signUp();
    const budget = { amount: formatBgl(hourCost), period: 'total' as const };
    const made = { params: { userId: guest.userId }, body: { name: 'robot', budget } };
    const { secret } = await server.request(createApiKey, made, { as: guest });
    const modelId = await makeFineTune(guest, 'Robot Talk');
    const { pod_id } = await deploy(modelId, { ...guest, apiKey: secret });
    await untilRunning(pod_id, guest);
    await server.services.db
      .updateTable('deployments')
      .set({ unsettled_ms: 57n * 60_000n })
      .where('id', '=', pod_id)
      .execute();
    clock.advance({ minutes: 1 });
    await meterDeployments(server.services);
    expect(await status(pod_id, guest)).toMatchObject({
      status: 'terminated',
      reason: expect.stringMatching(/^The budget of the API key 'robot'/),
    });
  });

  it('is not charged while its server is down, and its hold waits with it', async () => {
    const { pod_id } = await deploy(await makeFineTune(user, 'Crash Crust'));
    await untilRunning(pod_id);
    let open = () => {};
    stub.gate = new Promise((resolve) => {
      open = resolve;
    });
    for (const { workloadId, attempt } of driver.running()) await driver.kill(workloadId, attempt);
    await vi.waitFor(async () => expect((await status(pod_id)).status).not.toBe('running'), {
      timeout: 10_000,
    });
    await meterDeployments(server.services);
    const before = (await status(pod_id)).cost_so_far;
    for (let minute = 0; minute < 30; minute += 1) {
      clock.advance({ minutes: 10 });
      await meterDeployments({ ...server.services, config: { ...server.services.config, idleMinutes: 0 } });
    }
    expect(await status(pod_id)).toMatchObject({ cost_so_far: before });
    expect((await balance()).held).toBe(hourCost);
    open();
    await terminate(pod_id);
    expect((await balance()).held).toBe(0n);
  });

  it('sleeps when nobody asks, costs nothing then, and wakes for the next request', async () => {
    const { pod_id } = await deploy(await makeFineTune(user, 'Sleepy Loaf'));
    await untilRunning(pod_id);
    clock.advance({ minutes: server.services.config.idleMinutes + 1 });
    await meterDeployments(server.services);
    expect((await status(pod_id)).status).toBe('sleeping');
    expect((await balance()).held).toBe(0n);
    await vi.waitFor(() => expect(driver.running()).toHaveLength(0), { timeout: 10_000 });
    const asleep = (await status(pod_id)).cost_so_far;
    clock.advance({ hours: 3 });
    expect((await status(pod_id)).cost_so_far).toBe(asleep);

    const answer = await ask('sleepy-loaf');
    expect(answer.choices[0]?.message.content).toBe('Good bread.');
    await vi.waitFor(async () => expect((await balance()).held).toBe(hourCost));
    await terminate(pod_id);
  });

  it('costs nothing from the last count on when its server has died', async () => {
    const { pod_id } = await deploy(await makeFineTune(user, 'Dead Dough'));
    await untilRunning(pod_id);
    stub.gate = new Promise(() => undefined);
    for (const { workloadId, attempt } of driver.running()) await driver.kill(workloadId, attempt);
    await vi.waitFor(async () => expect((await status(pod_id)).status).not.toBe('running'), {
      timeout: 10_000,
    });
    clock.advance({ minutes: 1 });
    expect((await terminate(pod_id)).cost_so_far).toBe('0');
  });

  it('keeps its adapter out of new servers while it sleeps, and wakes all the same', async () => {
    const { pod_id } = await deploy(await makeFineTune(user, 'Resting Rye'));
    await untilRunning(pod_id);
    clock.advance({ minutes: server.services.config.idleMinutes + 1 });
    await meterDeployments(server.services);
    await vi.waitFor(() => expect(driver.running()).toHaveLength(0), { timeout: 10_000 });
    const second = await deploy(await makeFineTune(user, 'Fresh Focaccia'));
    await untilRunning(second.pod_id);
    const [launch] = driver.running();
    expect(launch?.spec.kind === 'serve' && launch.spec.adapters).toHaveLength(1);
    expect((await ask('resting-rye')).choices[0]?.message.content).toBe('Good bread.');
    await terminate(pod_id);
    await terminate(second.pod_id);
  });

  it('is refused where its adapter is not the one that the training made', async () => {
    const model = await makeFineTune(user, 'Swapped Sourdough');
    const put = await storeBlob(server.services, Readable.from(['GGUF of somebody']));
    const { files } = await readRevision(server.services.db, { assetId: model, userId: user.userId });
    await inTransaction(server.services.db, (tx) =>
      createRevisionFromBlobs(tx, {
        assetId: model,
        files: files.map((file) => (file.path === 'adapter.gguf' ? { path: file.path, ...put } : file)),
      }),
    );
    await expect(deploy(model)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('adapter.gguf is not the one that its training made'),
    });
  });

  it('leaves room for the starter model, however many bases are deployed by one user or by several', async () => {
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
      message: expect.stringContaining('You keep 2 base models awake'),
    });
    const [bob, eve] = others;
    const rye = await deployOther(bob, 'Rye');
    await expect(deployOther(eve, 'Oats')).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('beside the starter model'),
    });
    pods.push((await deploy(await makeFineTune(user, 'On The Starter'))).pod_id);
    for (const pod of pods) await terminate(pod);
    await serving.terminate(bob, rye);
  });

  it('keeps its model from being deleted', async () => {
    const model = await makeFineTune(user, 'Kept Model');
    const { pod_id } = await deploy(model);
    await expect(server.request(deleteAsset, { params: { id: model } }, { as: user })).rejects.toMatchObject({
      status: 409,
    });
    await terminate(pod_id);
    await server.request(deleteAsset, { params: { id: model } }, { as: user });
  });

  it('shows progress, metrics and sums', async () => {
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

  it("is invisible to others: another's pod is as if it were not there", async () => {
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

describe('when the model server misbehaves', () => {
  it('passes on what the caller did wrong, in its words, and charges nothing', async () => {
    await ask(STARTER);
    await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
    const before = await balance();
    stub.answer = 'refuse';
    await expect(ask(STARTER)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('context size'),
    });
    await vi.waitFor(async () => expect(await balance()).toEqual(before));
  });

  it('says that it does not answer when it fails, and charges nothing', async () => {
    stub.answer = 'crash';
    const before = await balance();
    await expect(ask(STARTER)).rejects.toMatchObject({ status: 503 });
    await vi.waitFor(async () => expect(await balance()).toEqual(before));
  });

  it('refuses a parameter that could make answers which nobody counts', async () => {
    const body = { model: STARTER, messages: [{ role: 'user' as const, content: 'Go' }], n_cmpl: 4 };
    await expect(server.request(chatCompletions, { body }, { as: user })).rejects.toMatchObject({
      status: 400,
      body: { error: { param: 'n_cmpl' } },
    });
    await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
  });

  it('charges only the tokens that came when the stream breaks off, and says so in the stream', async () => {
    stub.answer = 'break off';
    const before = await balance();
    const stream = await openai().chat.completions.create({
      model: STARTER,
      messages: [{ role: 'user', content: 'Go' }],
      stream: true,
    });
    await expect(Array.fromAsync(stream)).rejects.toThrow(/stopped in the middle/);
    const cost = costMicro([
      { priceId: 'prompt_tokens:CPU', parts: BigInt(stubUsage.prompt_tokens) },
      { priceId: 'completion_tokens:CPU', parts: 2n },
    ]);
    await vi.waitFor(async () =>
      expect(await balance()).toEqual({ ...before, balance: before.balance - cost }),
    );
  });
});
