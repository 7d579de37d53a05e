import { deleteAsset } from '@bakehouse/contract/assets';
import { listVllm } from '@bakehouse/contract/deployments/text';
import { beforeEach, expect, it, vi } from 'vitest';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { availableMicro } from '../../billing/ledger/available-micro.ts';
import { hold } from '../../billing/ledger/holds/holds.ts';
import { nameFineTune } from '../../models/fine-tuned/fine-tuned.ts';
import { STARTER, starterServing } from '../testing/starter-serving.ts';

/* Tests calling a fine-tune by the name of its training job, without deploying it first. */

const { serving, server, stub, clock, nextUser, openai, ask, makeFineTune, deploy, terminate, balance } =
  await starterServing();
let ada: TestUser;
let name: string;
let modelId: string;

beforeEach(async () => {
  ada = await nextUser();
  modelId = await makeFineTune(ada, 'Rye');
  await inTransaction(server.services.db, (tx) =>
    nameFineTune(tx, { assetId: modelId, baseTitle: 'Starter Model', username: 'ada', suffix: 'rye' }),
  );
  name = `ft:starter-model:ada:rye:${modelId.slice(0, 8)}`;
});

const deployments = async (as = ada) => {
  const query = { include_terminated: 'true', limit: 10 } as const;
  return (await server.request(listVllm, { params: { userId: as.userId }, query }, { as })).pods;
};

it('is deployed by its first call, answers it, and is charged like any other deployment', async () => {
  const before = await balance();
  const answer = await ask(name);
  expect(answer).toMatchObject({ model: name, choices: [{ message: { content: 'Good bread.' } }] });
  expect(stub.requests.at(-1)).toMatchObject({ lora: [{ id: 0, scale: 1 }] });
  const [made, ...more] = await deployments();
  expect(more).toEqual([]);
  expect(made).toMatchObject({ model_name: name, model_id: modelId, sleeps_after_minutes: 60 });
  await serving.untilRunning(ada, made?.pod_id ?? '');
  expect((await balance()).held).toBeGreaterThan(0n);

  const response = await openai().responses.create({ model: name, input: 'What do you bake?' });
  expect(response).toMatchObject({ model: name, output_text: 'Good bread.' });
  expect(await deployments()).toHaveLength(1);
  const { data } = await openai().models.list();
  expect(data.filter(({ id }) => id === name)).toHaveLength(1);
  clock.advance({ minutes: 1 });
  await terminate(made?.pod_id ?? '');
  await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
  expect((await balance()).balance).toBeLessThan(before.balance);
});

it('is deployed once by concurrent first calls, and again after its deployment was terminated', async () => {
  await Promise.all([ask(name), ask(name), ask(name)]);
  const [made, ...more] = await deployments();
  expect(more).toEqual([]);
  await terminate(made?.pod_id ?? '');
  await ask(name);
  expect((await deployments()).filter(({ terminated_at: ended }) => ended === null)).toMatchObject([
    { model_name: name },
  ]);
});

it("uses its owner's existing deployment", async () => {
  await deploy(modelId);
  expect(await ask(name)).toMatchObject({ model: 'rye' });
  expect(await deployments()).toHaveLength(1);
});

it('is listed before its first call, with its base, and only for its owner', async () => {
  const { data } = await openai().models.list();
  expect(data.find(({ id }) => id === name)).toMatchObject({ parent: 'starter-model', owned_by: ada.userId });
  expect(await openai().models.retrieve(name)).toMatchObject({ id: name });
  // The first model of the list must have no hourly price, because some clients use the first model.
  expect(data[0]?.id).toBe(STARTER);
  const bob = await nextUser();
  await expect(ask(name, bob)).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  expect(await deployments(bob)).toEqual([]);
  await server.request(deleteAsset, { params: { id: modelId } }, { as: ada });
  await expect(ask(name, ada)).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
});

it('is not deployed if the credit does not cover an hour', async () => {
  await inTransaction(server.services.db, async (tx) =>
    hold(tx, {
      ...{ userId: ada.userId, amountMicro: await availableMicro(tx, ada.userId), kind: 'fine_tuning' },
      ...{ description: 'All of it', idempotencyKey: `all:${ada.userId}` },
      expiresAt: new Date(clock.now().getTime() + 3_600_000),
    }),
  );
  await expect(ask(name)).rejects.toMatchObject({ status: 402, code: 'insufficient_funds' });
  expect(await deployments()).toEqual([]);
});

it('reports an adapter that cannot be loaded, and charges nothing', async () => {
  stub.failure = 'An adapter does not fit';
  const before = await balance();
  await expect(ask(name)).rejects.toMatchObject({ status: 503 });
  await vi.waitFor(async () => expect(await balance()).toEqual(before));
});
