import { createHash } from 'node:crypto';
import { deleteAsset, updateAsset } from '@bakehouse/contract/assets';
import { getImageDeployment, imageCalls } from '@bakehouse/contract/deployments/images';
import {
  type Generation,
  listGenerations,
  quoteGeneration,
  startGeneration,
} from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import { listLoras } from '@bakehouse/contract/loras';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { testGenerations } from '../../../testing/test-generations.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { insertFlux, insertModel } from '../../deployments/testing/test-models.ts';

/* A LoRA chosen for a single picture. */

const { server, stub, until, balance } = await testGenerations();
const { db } = server.services;

const ada = await server.signUp('Ada');
beforeEach(() => stub.startAnew());

const WEIGHTS = 'pytorch_lora_weights.safetensors';
const deploy = async () => {
  const { assetId } = await insertFlux(server.services, ada, 'My painter');
  const body = { model_id: assetId, user_id: ada.userId };
  const { pod_id: podId } = await server.request(imageCalls.flux.deploy, { body }, { as: ada });
  return (await server.request(getImageDeployment, { params: { podId } }, { as: ada })).model_name;
};
/** Ada's, for all tests. */
const model = await deploy();
const insertLora = (owner: TestUser, title = 'Watercolour') =>
  insertModel(server.services, owner, title, { [WEIGHTS]: `weights of ${title}`, 'README.md': '' });
const generate = (
  parameters: Generation['parameters'],
  asked: { generator?: GeneratorName; model?: string } = {},
) =>
  server.request(
    startGeneration,
    { body: { generator: 'flux', prompt: 'Bread', parameters, ...asked } },
    { as: ada },
  );
const refused = (param: string, message: string | RegExp, status = 400) => ({
  status,
  body: { error: { param, message: expect.stringMatching(message) } },
});

test('is applied by the model that generates, is recorded, and is readable only to its workload', async () => {
  const { assetId, revisionId } = await insertLora(ada);
  const started = await generate({ lora: assetId, lora_scale: 0.5 }, { model });
  const done = await until(ada, started.id, 'completed');
  expect(done.parameters).toMatchObject({ lora: assetId, lora_scale: 0.5 });
  expect(done.lora_revision).toEqual({
    ...{ asset_id: assetId, revision_id: revisionId, number: 1, title: 'Watercolour' },
  });
  const sha256 = createHash('sha256').update('weights of Watercolour').digest('hex');
  const [asked] = stub.requests;
  expect(asked).toMatchObject({
    lora: { id: revisionId, sha256, size_bytes: 'weights of Watercolour'.length, scale: 0.5 },
    metadata: { lora: assetId, lora_scale: '0.5' },
  });
  const { rows } = await sql<{ model_name: string }>`
    select deployments.model_name from workload_inputs
    join model_servers on model_servers.workload_id = workload_inputs.workload_id
    join deployments on deployments.id = model_servers.deployment_id
    where sha256 = ${sha256}`.execute(db);
  expect(rows).toEqual([{ model_name: model }]);

  const whole = await until(ada, (await generate({ lora: assetId }, { model })).id, 'completed');
  expect(whole.parameters.lora_scale).toBe(1);
  const without = await until(ada, (await generate({ lora: null }, { model })).id, 'completed');
  expect(Object.keys(without.parameters).toSorted()).toEqual([
    'guidance_scale',
    'num_inference_steps',
    'seed',
  ]);
  expect(without.lora_revision).toBeNull();
  expect(stub.requests.at(-1)).not.toHaveProperty('lora');
});

test.each<[Generation['parameters'], string, string]>([
  [{ lora: 'watercolour' }, 'lora', 'LoRA must be the id of a model'],
  [{ lora: 7 }, 'lora', 'LoRA must be the id of a model'],
  [{ lora_scale: 1 }, 'lora_scale', 'LoRA strength needs lora'],
  [{ lora: 'own', lora_scale: 2.1 }, 'lora_scale', 'LoRA strength must be at most 2'],
  [{ lora: 'own', lora_scale: -0.1 }, 'lora_scale', 'LoRA strength must be at least 0'],
  [{ lora: 'own', lora_scale: 'much' }, 'lora_scale', 'LoRA strength must be a number'],
])('rejects LoRA parameters outside their limits by field (case %#)', async (given, field, message) => {
  const { assetId } = await insertLora(ada);
  const parameters = { ...given, ...(given.lora === 'own' && { lora: assetId }) };
  const { held } = await balance(ada);
  await expect(generate(parameters, { model })).rejects.toMatchObject(
    refused(`parameters.${field}`, message),
  );
  expect((await balance(ada)).held).toBe(held);
});

test('of another user appears in the history while the user may read it', async () => {
  const bob = await server.signUp('Bob');
  const { assetId } = await insertLora(bob, 'Gouache');
  const publish = (is_published: boolean) =>
    server.request(updateAsset, { params: { id: assetId }, body: { is_published } }, { as: bob });
  await publish(true);
  const { id } = await generate({ lora: assetId }, { model });
  const shown = async () => {
    const { generations } = await server.request(
      listGenerations,
      { params: { userId: ada.userId }, query: {} },
      { as: ada },
    );
    return generations.find((one) => one.id === id)?.lora_revision;
  };
  expect(await shown()).toMatchObject({ title: 'Gouache' });
  // A waiting generation would fail.
  await until(ada, id, 'completed');
  await publish(false);
  expect(await shown()).toBeNull();
});

test('must be a LoRA that the user may read', async () => {
  const bob = await server.signUp('Bob');
  const { assetId: foreign } = await insertLora(bob, 'Oil');
  const missing = refused('parameters.lora', 'Asset not found', 404);
  await expect(generate({ lora: foreign }, { model })).rejects.toMatchObject(missing);
  const { assetId: painter } = await insertFlux(server.services, ada, 'Another painter');
  await expect(generate({ lora: painter }, { model })).rejects.toMatchObject(
    refused('parameters.lora', /^Another painter is not a LoRA: /),
  );
  await sql`insert into restricted_models (id, name, family, tags, details, asset_id)
    values ('bob/oil', 'Oil', 'flux', '{}', '', ${foreign})`.execute(db);
  await sql`insert into access_requests (restricted_model_id, user_id, message, state)
    values ('bob/oil', ${ada.userId}, '', 'granted')`.execute(db);
  const { id, parameters } = await generate({ lora: foreign }, { model });
  expect(parameters).toMatchObject({ lora: foreign });
  await until(ada, id, 'completed');
});

test('is rejected with its name if the provider supports none', async () => {
  const { assetId: lora } = await insertLora(ada);
  const none = refused('parameters.lora', /^Paris starter does not support LoRAs; /);
  await expect(generate({ lora }, { generator: 'paris' })).rejects.toMatchObject(none);
  const quote = { body: { generator: 'paris' as const, parameters: { lora } } };
  await expect(server.request(quoteGeneration, quote, { as: ada })).rejects.toMatchObject(none);
});

test('fails once at no cost if it was deleted or does not fit', async () => {
  const { held } = await balance(ada);
  const { assetId: lora } = await insertLora(ada);
  stub.answer = 'hang';
  // The next generation waits until one of these is done.
  const generated = [];
  for (let place = 0; place < 4; place += 1) generated.push(await generate({}, { model }));
  for (const { id } of generated) await until(ada, id, 'running');
  const { id } = await generate({ lora }, { model });
  await server.request(deleteAsset, { params: { id: lora } }, { as: ada });
  stub.answer = 'ok';
  stub.letGo();
  const failed = await until(ada, id, 'failed');
  expect(failed).toMatchObject({
    reason: 'Its LoRA was deleted, or you no longer have access to it',
    ...{ refused: true, cost: '0', lora_revision: null },
  });

  stub.answer = 'refuse';
  const { assetId: misfit } = await insertLora(ada, 'Of another model');
  const refusedOne = await until(ada, (await generate({ lora: misfit }, { model })).id, 'failed');
  expect(refusedOne).toMatchObject({ refused: true, cost: '0' });
  expect((await balance(ada)).held).toBe(held);
});

test("lists a user's LoRAs by page, newest first, and finds them by title", async () => {
  const carol = await server.signUp('Carol');
  await insertLora(carol, 'Oil');
  const kohya = { 'charcoal.safetensors': 'weights', 'README.md': '' };
  await insertModel(server.services, carol, 'Charcoal', kohya);
  await insertFlux(server.services, carol, 'My painter');
  const list = (as: TestUser, query: object = {}) =>
    server.request(listLoras, { params: { userId: as.userId }, query }, { as });
  const titles = ({ loras }: { loras: { title: string }[] }) => loras.map(({ title }) => title);
  expect(titles(await list(carol))).toEqual(['Charcoal', 'Oil']);
  expect(titles(await list(carol, { search: 'OIL' }))).toEqual(['Oil']);
  const page = await list(carol, { limit: 1 });
  expect(titles(page)).toEqual(['Charcoal']);
  const rest = await list(carol, { limit: 1, cursor: page.next_cursor });
  expect([titles(rest), rest.next_cursor]).toEqual([['Oil'], null]);
  const bob = await server.signUp('Bob');
  expect(await list(bob)).toEqual({ loras: [], next_cursor: null });
  await expect(list(bob, { cursor: page.next_cursor })).rejects.toThrow(/cursor must be the next_cursor/);
});
