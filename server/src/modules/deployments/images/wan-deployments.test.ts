import {
  getImageDeployment,
  imageCalls,
  listImageDeployments,
  stopAllWan,
} from '@bakehouse/contract/deployments/images';
import { sql } from 'kysely';
import { beforeEach, expect, test, vi } from 'vitest';
import { unlisted } from '../../../engine/testing/test-gpus.ts';
import { insertImageStarters } from '../../../testing/test-generations.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { testServing } from '../../../testing/test-serving.ts';
import { insertFlux, insertWan } from '../testing/test-models.ts';

const { server, driver, clock } = await testServing({ capacity: { 'cpu:deployment': 8 } });
const large = await testServing({ capacity: { 'cpu:deployment': 2, gpus: [unlisted('A GPU', 40, [0])] } });
let ada: TestUser;
beforeEach(async () => {
  ada = await server.signUp();
});

const params = () => ({ userId: ada.userId });
const deploy = async (title: string) => {
  const { assetId } = await insertWan(server.services, ada, title);
  const body = { model_id: assetId, gpu_count: 1, user_id: ada.userId };
  return (await server.request(imageCalls.wan.deploy, { body }, { as: ada })).pod_id;
};
const read = (podId: string) => server.request(getImageDeployment, { params: { podId } }, { as: ada });
const list = async (as = ada) =>
  (await server.request(imageCalls.wan.list, { params: { userId: as.userId }, query: {} }, { as }))
    .deployments;

test('deploys a Wan, lists it with the state names of Wan deployments, and ends all of them in one call', async () => {
  const first = await deploy('Wan-AI Video');
  await vi.waitFor(async () => expect(await read(first)).toMatchObject({ kind: 'wan', status: 'running' }), {
    interval: 50,
  });
  expect(driver.running().map(({ spec }) => spec)).toMatchObject([
    { kind: 'serve', task: 'image', engine: 'wan', gpus: 0 },
  ]);
  clock.advance({ seconds: 1 });
  const second = await deploy('Other Video');
  const listed = await list();
  expect(listed.map(({ pod_id }) => pod_id)).toEqual([second, first]);
  expect(listed[0]?.status).toMatch(/^(PENDING|DEPLOYING|running)$/);
  expect(listed[1]).toMatchObject({
    ...{ pod_id: first, runpod_id: first, title: 'Wan-AI Video', model_name: 'wan-ai-video' },
    current_status: { status: 'running' },
    deployment_details: { base_url: expect.stringMatching(/^http/) },
  });

  // Other users' deployments and other kinds are not affected.
  const bob = await server.signUp();
  const { assetId } = await insertFlux(server.services, ada, 'My painter');
  const body = { model_id: assetId, user_id: ada.userId };
  const flux = await server.request(imageCalls.flux.deploy, { body }, { as: ada });
  const none = await server.request(stopAllWan, { params: { userId: bob.userId } }, { as: bob });
  expect(none).toEqual({ stopped: [] });
  const foreign = await server.send(stopAllWan, { params: params() }, { as: bob });
  expect(foreign.status).toBeGreaterThanOrEqual(400);

  const { stopped } = await server.request(stopAllWan, { params: params() }, { as: ada });
  expect(stopped.map(({ pod_id, status }) => [pod_id, status])).toEqual([
    [second, 'TERMINATED'],
    [first, 'TERMINATED'],
  ]);
  expect(await list()).toEqual([]);
  const { deployments } = await server.request(
    listImageDeployments,
    { params: params(), query: {} },
    { as: ada },
  );
  expect(deployments.map(({ pod_id }) => pod_id)).toEqual([flux.pod_id]);
});

test('a full-size Wan needs a GPU that holds all of its weights, and is rejected without one', async () => {
  const { services } = large.server;
  const owner = await large.server.signUp();
  const { assetId } = await insertWan(services, owner, 'Wan 2.2 TI2V 5B');
  const grow = (part: string, bytes: number) =>
    sql`update asset_files set size_bytes = ${bytes} where asset_id = ${assetId} and path like ${`${part}%`}`.execute(
      services.db,
    );
  await grow('transformer/', 10_000_000_000);
  await grow('text_encoder/', 11_400_000_000);
  const body = { model_id: assetId, user_id: owner.userId };
  const quote = () => large.server.request(imageCalls.wan.quote, { body }, { as: owner });
  expect(await quote()).toMatchObject({ device: '1 x A GPU', licence: null });
  await grow('transformer/', 40_000_000_000);
  await expect(quote()).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('Wan 2.2 TI2V 5B needs a GPU with at least'),
  });
});

test.each([
  ['a FLUX', insertFlux, /is not a Wan model: its model_index\.json names the pipeline FluxKontextPipeline/],
] as const)('%s cannot be deployed as a Wan', async (_what, insert, message) => {
  const { assetId } = await insert(server.services, ada, 'My painter');
  const body = { model_id: assetId, user_id: ada.userId };
  await expect(server.request(imageCalls.wan.deploy, { body }, { as: ada })).rejects.toThrow(message);
});

test('rejects a Wan without a part that its index names', async () => {
  const { assetId } = await insertWan(server.services, ada, 'Half a Wan');
  await sql`delete from asset_files where asset_id = ${assetId} and path like 'text_encoder/%'`.execute(
    server.services.db,
  );
  const body = { model_id: assetId, user_id: ada.userId };
  await expect(server.request(imageCalls.wan.deploy, { body }, { as: ada })).rejects.toThrow(/text_encoder/);
});

test.each([
  ['wan', 'Wan-AI/Wan2.2-TI2V-5B', 'Wan starter'],
  ['flux', 'black-forest-labs/FLUX.1-dev', 'Kontext starter'],
  ['flux-kontext', 'black-forest-labs/FLUX.1-Kontext-dev', 'Kontext starter'],
] as const)(
  '%s deploys the starter for %s if the user has no such model, and returns a notice',
  async (kind, name, starter) => {
    await insertImageStarters(server.services);
    const calls = imageCalls[kind];
    const ask = { body: { model_id: name, user_id: ada.userId } };
    const notice = `You have no model ${name}, so the starter model ${starter} is deployed instead`;
    expect(await server.request(calls.quote, ask, { as: ada })).toMatchObject({ title: starter, notice });
    const deployed = await server.request(calls.deploy, ask, { as: ada });
    expect(deployed.notice).toBe(notice);
    expect(await read(deployed.pod_id)).toMatchObject({ kind, title: starter });

    const insert = kind === 'wan' ? insertWan : insertFlux;
    const { assetId } = await insert(server.services, ada, name.slice(name.indexOf('/') + 1));
    const own = await server.request(calls.deploy, ask, { as: ada });
    expect(own).not.toHaveProperty('notice');
    expect(await read(own.pod_id)).toMatchObject({ model_id: assetId });
  },
);
