import { vllmStatus } from '@bakehouse/contract/deployments/text';
import { describe, expect, it } from 'vitest';
import { listed } from '../../../engine/testing/test-gpus.ts';
import { testServing } from '../../../testing/test-serving.ts';
import { readRevision } from '../../assets/read-revision.ts';
import { insertFineTune, insertModel, insertStarter } from '../testing/test-models.ts';
import { acceptAdapter } from './late-adapters.ts';

const STARTER = 'starter-model';

it("an answer is completed after another user's fine-tune has replaced the model server", async () => {
  const serving = await testServing();
  const { stub, server, driver } = serving;
  const starter = await insertStarter(server.services, STARTER);
  const [ada, bob] = [await server.signUp(), await server.signUp()];
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  Object.assign(stub, { answer: 'hold', held });
  const answer = await serving.ask(ada, STARTER, { stream: true });
  // Wait until the server has the request: the response's headers may arrive earlier.
  await expect.poll(() => stub.open).toBe(1);
  stub.answer = 'ok';
  const podId = await serving.deploy(bob, await insertFineTune(server.services, starter, bob, 'A Tune'));
  await serving.untilRunning(bob, podId);
  expect(driver.running()).toHaveLength(2);
  expect((await serving.ask(ada, STARTER)).status).toBe(200);

  release();
  const text = await answer.text();
  expect(text).toContain('[DONE]');
  expect(text).not.toContain('error');
  await expect.poll(() => driver.running()).toHaveLength(1);
});

it("an answer is completed after its server's slot was withdrawn, while another server gets new requests", async () => {
  const serving = await testServing();
  const { stub, server, driver } = serving;
  await insertStarter(server.services, STARTER);
  const ada = await server.signUp();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  Object.assign(stub, { answer: 'hold', held });
  const answer = await serving.ask(ada, STARTER, { stream: true });
  await expect.poll(() => stub.open).toBe(1);
  stub.answer = 'ok';
  const [first] = driver.running();
  await stub.leave[0]?.();
  const wanted = await server.services.db
    .selectFrom('workloads')
    .select(['wanted', 'drain_seconds'])
    .execute();
  expect(wanted).toEqual([{ wanted: 'stopped', drain_seconds: 1770 }]);

  await expect.poll(() => driver.running()).toHaveLength(2);
  expect((await serving.ask(ada, STARTER)).status).toBe(200);
  // The new server has received this request.
  expect(stub.open).toBe(1);
  release();
  expect(await answer.text()).toContain('[DONE]');
  await expect.poll(() => driver.running()).toHaveLength(1);
  expect(driver.running()).not.toEqual([first]);
});

describe('a running vLLM', async () => {
  const gpus = [listed('NVIDIA_TESLA_A100', [0, 1, 2, 3])];
  const serving = await testServing({ capacity: { gpus, servesTextOnGpus: true } });
  const { server, driver, stub, deploy, untilRunning, ask } = serving;
  const user = await server.signUp();
  const base = await insertModel(server.services, user, 'A Base', { 'model.safetensors': 'weights' });
  await untilRunning(user, await deploy(user, base.assetId));
  const [launch] = driver.running();
  const storedSpec = async () => {
    const { spec } = await server.services.db
      .selectFrom('workloads')
      .select('spec')
      .where('id', '=', launch?.workloadId ?? '')
      .executeTakeFirstOrThrow();
    return spec as unknown as { adapters: { name: string }[]; inputs: { name: string }[] };
  };

  const adapterNames = async () => (await storedSpec()).adapters.map(({ name }) => name);

  it('loads an adapter without another server, and includes it in the next attempt', async () => {
    const assetId = await insertFineTune(server.services, base, user, 'A Tune', { rank: 8 });
    const podId = await deploy(user, assetId);
    await untilRunning(user, podId);
    expect(driver.running()).toEqual([launch]);
    const { revision } = await readRevision(server.services.db, { assetId, userId: user.userId });
    const { adapters, inputs } = await storedSpec();
    expect(adapters).toMatchObject([{ name: revision.id, rank: 8 }]);
    expect(inputs.map(({ name }) => name)).toEqual(['base_model', `adapter-${revision.id}`]);
    const { model_name: name } = await server.request(vllmStatus, { params: { podId } }, { as: user });
    expect((await ask(user, name)).status).toBe(200);
    expect(stub.requests.at(-1)).toMatchObject({ model: revision.id });
  });

  it('unloads the adapter of an ended deployment, and loads it for a new one', async () => {
    const assetId = await insertFineTune(server.services, base, user, 'A Short Tune', { rank: 8 });
    const { revision } = await readRevision(server.services.db, { assetId, userId: user.userId });
    const podId = await deploy(user, assetId);
    await untilRunning(user, podId);
    expect(stub.wantedAdapters).toContain(revision.id);
    await serving.terminate(user, podId);
    await expect.poll(() => stub.wantedAdapters).not.toContain(revision.id);
    expect(stub.wantedAdapters).toEqual(await adapterNames());
    expect((await storedSpec()).inputs.map(({ name }) => name)).not.toContain(`adapter-${revision.id}`);
    const nextId = await deploy(user, assetId);
    await untilRunning(user, nextId);
    expect(await adapterNames()).toContain(revision.id);
    expect(driver.running()).toEqual([launch]);
    await serving.terminate(user, nextId);
  });

  it('ends only the deployment whose adapter it cannot load', async () => {
    const assetId = await insertFineTune(server.services, base, user, 'A Wrong Tune', { rank: 8 });
    const { revision } = await readRevision(server.services.db, { assetId, userId: user.userId });
    stub.brokenAdapter = revision.id;
    const podId = await deploy(user, assetId);
    await expect.poll(() => serving.status(user, podId)).toMatchObject({ status: 'failed' });
    expect(JSON.stringify(await serving.status(user, podId))).toContain('An adapter does not fit');
    expect(driver.running()).toEqual([launch]);
    expect(await adapterNames()).not.toContain(revision.id);
  });

  it('stops serving an adapter that a restarted attempt could not load', async () => {
    const { db, jobs } = server.services;
    const assetId = await insertFineTune(server.services, base, user, 'A Lost Tune', { rank: 8 });
    const podId = await deploy(user, assetId);
    await untilRunning(user, podId);
    const { revision } = await readRevision(db, { assetId, userId: user.userId });
    const failed = { type: 'adapter', name: revision.id, failure: 'It does not fit' } as const;
    await db
      .transaction()
      .execute((tx) => acceptAdapter(tx, jobs, launch?.workloadId ?? '', { seq: 1, at: '', ...failed }));
    await expect.poll(() => serving.status(user, podId)).not.toMatchObject({ status: 'running' });
    expect(await adapterNames()).not.toContain(revision.id);
    expect(driver.running()).toEqual([launch]);
  });

  it('is replaced if an adapter has a larger rank', async () => {
    const assetId = await insertFineTune(server.services, base, user, 'A Large Tune', { rank: 64 });
    await untilRunning(user, await deploy(user, assetId));
    const [latest] = driver.running().slice(-1);
    expect(latest?.workloadId).not.toBe(launch?.workloadId);
    expect(latest?.spec).toMatchObject({ lora_rank: 64, adapters: [{}, {}] });
  });
});
