import { createApiKey } from '@bakehouse/contract/api-keys';
import { listTransactions } from '@bakehouse/contract/credits';
import {
  cancelGeneration,
  deleteGeneration,
  listGenerations,
  quoteGeneration,
  startGeneration,
} from '@bakehouse/contract/generations';
import { generatorNames, listGenerators } from '@bakehouse/contract/generators';
import { changePrice } from '@bakehouse/contract/prices';
import { getWork } from '@bakehouse/contract/work';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { signUpOperator } from '../../testing/sign-up-operator.ts';
import { testGenerations } from '../../testing/test-generations.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { withdrawCredits } from '../billing/ledger/given-credits.ts';

const setting = await testGenerations();
const { server, stub, clock } = setting;
const { db } = server.services;

let ada: TestUser;
beforeEach(async () => {
  stub.startAnew();
  ada = await server.signUp('Ada');
});

const charges = async (as: TestUser) => {
  const call = { params: { userId: as.userId }, query: {} };
  const { transactions } = await server.request(listTransactions, call, { as });
  return transactions.filter((one) => one.description === 'Picture by Paris starter');
};
const list = (as: TestUser, query = {}) =>
  server.request(listGenerations, { params: { userId: as.userId }, query }, { as });
const cancel = (as: TestUser, id: string) => server.request(cancelGeneration, { params: { id } }, { as });
const blobsOf = (as: TestUser) =>
  db.selectFrom('blob_owners').select('sha256').where('owner_id', '=', as.userId).execute();

/** The fake clock is frozen: advance it past retry pauses. */
const untilEnded = (as: TestUser, id: string) =>
  vi.waitFor(
    async () => {
      clock.advance({ seconds: 2 });
      const generation = await setting.read(as, id);
      expect(generation.ended_at).not.toBeNull();
      return generation;
    },
    { interval: 100 },
  );

describe('a picture', () => {
  test("is rejected before it is charged if the user's storage is full", async () => {
    const before = await setting.balance(ada);
    const bytes = BigInt(server.services.config.storageGb * 1024 ** 3);
    const setStored = (row: { bytes: bigint }) =>
      db
        .insertInto('user_storage')
        .values({ user_id: ada.userId, ...row })
        .onConflict((conflict) => conflict.column('user_id').doUpdateSet(row))
        .execute();
    await setStored({ bytes });
    await expect(setting.generate(ada)).rejects.toMatchObject({ status: 413, code: 'payload_too_large' });
    expect(await setting.balance(ada)).toEqual({ ...before, held: 0n });
    expect((await list(ada)).generations).toEqual([]);
    await setStored({ bytes: bytes - 1n });
    expect(await setting.generate(ada)).toMatchObject({ state: 'queued' });
  });

  test('holds its price, is generated and stored, is charged once and appears in the statement', async () => {
    const before = await setting.balance(ada);
    const started = await setting.generate(ada);
    expect(started).toMatchObject({ state: 'queued', cost: '0.125', steps: 10, outputs: [] });

    const done = await setting.until(ada, started.id, 'completed');
    expect(done).toMatchObject({
      ...{ generator: 'paris', provider: 'own', model: 'paris-ddm-v1.0', prompt: 'A loaf of bread' },
      ...{ step: 10, expert_used: 3, routing_confidence: 0.5, cost: '0.125', preview: null, position: null },
    });
    expect(done.expert_weights).toHaveLength(10);
    expect(done.parameters.seed).toBe(done.seed);
    expect(await setting.balance(ada)).toEqual({ balance: before.balance - 125_000n, held: 0n });
    const [output] = done.outputs;
    const picture = await fetch(new URL(output?.url ?? '', server.url));
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect((await picture.arrayBuffer()).byteLength).toBe(output?.size_bytes);
    expect(await charges(ada)).toMatchObject([{ amount: '0.125', status: 'completed' }]);
    const asset = await db
      .selectFrom('assets')
      .select(['revision_id', 'title'])
      .where('id', '=', setting.assetId)
      .executeTakeFirst();
    expect(done.model_revision, 'what generated it').toEqual({
      ...{ asset_id: setting.assetId, revision_id: asset?.revision_id },
      ...{ number: 1, title: asset?.title },
    });
    expect(started.model_revision).toBeNull();
    // The generation has ended, so a cancel changes nothing.
    expect(await cancel(ada, started.id)).toMatchObject({ state: 'completed', cost: '0.125' });
  });

  test('publishes a cancel as an event to every open page', async () => {
    stub.answer = 'hang';
    const { id } = await setting.generate(ada);
    await setting.until(ada, id, 'running');
    const pages = [[], []] as { topic: string; id: string }[][];
    const stops = pages.map((heard) =>
      server.services.events.subscribe(ada.userId, (event) => heard.push(event)),
    );
    const bob = await server.signUp('Bob');
    const others: unknown[] = [];
    stops.push(server.services.events.subscribe(bob.userId, (event) => others.push(event)));
    // The model server hangs and sends no steps, so the next event is the cancel's.
    await cancel(ada, id);
    for (const heard of pages)
      await vi.waitFor(() =>
        expect(heard).toContainEqual(expect.objectContaining({ topic: 'generation', id })),
      );
    expect(await setting.read(ada, id)).toMatchObject({ state: 'cancelled' });
    expect(others).not.toContainEqual(expect.objectContaining({ topic: 'generation' }));
    for (const stop of stops) stop();
  });

  test('shows its progress, and costs nothing if cancelled', async () => {
    stub.answer = 'hang';
    const before = await setting.balance(ada);
    const { id } = await setting.generate(ada);
    const running = await setting.until(ada, id, 'running');
    expect(running).toMatchObject({ step: 1, preview: 'data:image/jpeg;base64,c21hbGw=', position: null });
    expect(running.expert_weights).toEqual([[0.5, 0.5, 0, 0, 0, 0, 0, 0]]);
    expect((await setting.balance(ada)).held).toBe(125_000n);

    expect(await cancel(ada, id)).toMatchObject({
      ...{ state: 'cancelled', reason: 'Cancelled', cost: '0', preview: null },
    });
    await vi.waitFor(() => expect(stub.open, 'the model server is disconnected').toBe(0));
    expect(await setting.balance(ada)).toEqual(before);
    expect(await cancel(ada, id)).toMatchObject({ state: 'cancelled' });
    expect(await charges(ada)).toEqual([]);
  });

  test('is listed as work while it runs and for an hour after', async () => {
    stub.answer = 'hang';
    const recent = async () =>
      (await server.request(getWork, {}, { as: ada })).generations.map(({ id }) => id);
    const { id } = await setting.generate(ada);
    expect(await recent()).toEqual([id]);
    // Wait until it runs. Otherwise its request could reach the model server during the next test.
    await setting.until(ada, id, 'running');
    await cancel(ada, id);
    expect(await recent()).toEqual([id]);
    clock.advance({ minutes: 61 });
    expect(await recent()).toEqual([]);
  });

  test.each([
    ['broken picture', 'The image was corrupted', 3],
    ['die', 'The model server stopped before it was finished', 3],
    ['die at once', 'The model server stopped before it was finished', 3],
    ['fail', 'paris-ddm-v1.0 could not generate this', 3],
    ['error', 'The picture has no end', 3],
    ['refuse', 'The prompt is too long for this model', 1],
  ] as const)('costs nothing if the model server answers with: %s', async (answer, reason, attempts) => {
    stub.answer = answer;
    const before = await setting.balance(ada);
    const { id } = await setting.generate(ada);
    expect(await untilEnded(ada, id)).toMatchObject({ state: 'failed', reason, cost: '0', outputs: [] });
    expect(stub.requests).toHaveLength(attempts);
    expect(await setting.balance(ada)).toEqual(before);
  });

  test('is generated by a later attempt and charged once', async () => {
    stub.answer = 'die';
    const { id } = await setting.generate(ada);
    await vi.waitFor(async () => expect((await setting.read(ada, id)).reason).toContain('Trying again'));
    stub.answer = 'ok';
    expect(await untilEnded(ada, id)).toMatchObject({ state: 'completed', cost: '0.125' });
    expect(await charges(ada)).toHaveLength(1);
  });

  test('starts once per idempotency key, and is rejected without credit', async () => {
    const [first, second] = await Promise.all([
      setting.generate(ada, {}, 'key'),
      setting.generate(ada, {}, 'key'),
    ]);
    expect(second.id).toBe(first.id);
    await setting.until(ada, first.id, 'completed');
    expect(await charges(ada)).toHaveLength(1);

    const key = { name: 'small', budget: { amount: '0.1', period: 'day' as const } };
    const { secret } = await server.request(
      createApiKey,
      { params: { userId: ada.userId }, body: key },
      { as: ada },
    );
    const within = setting.generate({ ...ada, apiKey: secret });
    await expect(within).rejects.toMatchObject({ status: 402, code: 'budget_exceeded' });
    await inTransaction(db, (tx) => withdrawCredits(tx, ada.userId));
    await expect(setting.generate(ada)).rejects.toMatchObject({ status: 402, code: 'insufficient_funds' });
    expect((await list(ada)).generations).toHaveLength(1);
  });

  test('is rejected with the current price if that exceeds the quoted price', async () => {
    const request = {
      generator: 'paris' as const,
      parameters: { num_inference_steps: 10, sampling_strategy: 'topk', k: 2 },
    };
    const { cost } = await server.request(quoteGeneration, { body: request }, { as: ada });
    const price = { price_id: 'pictures:CPU', unit_price: '12.5' };
    const operator = await signUpOperator(server);
    await server.request(changePrice, { body: price }, { as: operator });
    const start = (cost_max: string) =>
      server.request(
        startGeneration,
        { body: { ...request, prompt: 'A loaf of bread', cost_max } },
        { as: ada },
      );
    await expect(start(cost)).rejects.toMatchObject({
      status: 409,
      body: {
        error: { message: 'The price has changed: this picture now costs 0.25 BGL', param: 'cost_max' },
      },
    });
    expect((await start('0.25')).cost).toBe('0.25');
    await db.deleteFrom('price_changes').execute();
  });

  test('leaves no row, bytes or charge when deleted', async () => {
    const { id } = await setting.generate(ada);
    await setting.until(ada, id, 'completed');
    expect(await blobsOf(ada)).toHaveLength(1);
    await server.request(deleteGeneration, { params: { id } }, { as: ada });
    expect(await blobsOf(ada)).toEqual([]);
    expect((await list(ada)).generations).toEqual([]);

    stub.answer = 'hang';
    const before = await setting.balance(ada);
    const second = await setting.generate(ada);
    await setting.until(ada, second.id, 'running');
    await server.request(deleteGeneration, { params: { id: second.id } }, { as: ada });
    expect(await setting.balance(ada)).toEqual(before);
  });

  test('is rejected with the name of the invalid field; a starter substitutes for a generator without a provider', async () => {
    await expect(setting.generate(ada, { k: 9 })).rejects.toMatchObject({
      status: 400,
      body: { error: { message: 'Number of experts must be at most 8', param: 'parameters.k' } },
    });
    const body = { generator: 'recraft' as const, parameters: {} };
    expect(await server.request(quoteGeneration, { body }, { as: ada })).toEqual({ cost: '0.25' });
    const asked = { ...body, prompt: 'A red apple' };
    const { id } = await server.request(startGeneration, { body: asked }, { as: ada });
    expect(await setting.until(ada, id, 'completed')).toMatchObject({
      ...{ generator: 'recraft', provider: 'own', model: 'paris-ddm-v1.0', steps: 20, cost: '0.25' },
    });
    await expect(
      server.request(quoteGeneration, { body: { ...body, parameters: { n: 4 } } }, { as: ada }),
    ).rejects.toMatchObject({
      ...{ status: 400, body: { error: { message: 'Paris starter has no parameter n' } } },
    });
    const { generators } = await server.request(listGenerators, {});
    const served = generators.filter(({ served_by }) => served_by.length > 0);
    expect(served.map(({ served_by }) => served_by)).toEqual(generatorNames.map(() => ['own']));
  });
});

describe('the queue', () => {
  test('is fair: a user with one picture waits only for running ones', async () => {
    stub.answer = 'hang';
    const bob = await server.signUp('Bob');
    const ids: string[] = [];
    for (let asked = 0; asked < 8; asked += 1) ids.push((await setting.generate(ada)).id);
    await expect(setting.generate(ada)).rejects.toMatchObject({ status: 429, code: 'rate_limited' });
    await vi.waitFor(async () => {
      const { generations } = await list(ada, { state: 'running' });
      expect(generations).toHaveLength(3);
    });
    const { generations: waiting } = await list(ada, { state: 'queued' });
    expect(new Set(waiting.map(({ position }) => position))).toEqual(new Set([0, 1, 2, 3, 4]));
    expect(waiting.map(({ reason }) => reason)).toContain('One picture ahead of yours');

    // The last slot is reserved for users without a running picture, so Bob gets it. His second picture is
    // ahead of Ada's.
    const first = await setting.generate(bob);
    await setting.until(bob, first.id, 'running');
    const second = await setting.generate(bob);
    expect(second.position).toBe(0);
    for (const id of ids) await cancel(ada, id);
    for (const { id } of [first, second]) await cancel(bob, id);
  });

  test('lists generations by page, generator, state and words', async () => {
    const ids: string[] = [];
    for (let asked = 0; asked < 3; asked += 1) ids.unshift((await setting.generate(ada)).id);
    for (const id of ids) await setting.until(ada, id, 'completed');
    const first = await list(ada, { limit: 2 });
    expect(first.generations.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const rest = await list(ada, { limit: 2, cursor: first.next_cursor });
    expect(rest).toMatchObject({ generations: [{ id: ids[2] }], next_cursor: null });
    expect((await list(ada, { search: 'LOAF', generator: 'paris' })).generations).toHaveLength(3);
    expect((await list(ada, { search: '%' })).generations).toEqual([]);
    expect((await list(ada, { state: 'failed' })).generations).toEqual([]);
    const bob = await server.signUp('Bob');
    const some = `${ids[2]},${ids[0]},${crypto.randomUUID()}`;
    expect((await list(ada, { ids: some })).generations.map(({ id }) => id)).toEqual([ids[0], ids[2]]);
    expect((await list(bob, { ids: some })).generations).toEqual([]);
    await expect(list(ada, { ids: 'last' })).rejects.toMatchObject({ status: 404 });
    for (const cursor of [ids[0], '-'.repeat(36), 'last'])
      await expect(list(bob, { cursor })).rejects.toMatchObject({ status: 400 });
  });
});
