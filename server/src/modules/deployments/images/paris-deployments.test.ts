import { getImageDeployment, imageCalls, listImageDeployments } from '@bakehouse/contract/deployments/images';
import { sql } from 'kysely';
import { beforeEach, expect, test, vi } from 'vitest';
import { unlisted } from '../../../engine/testing/test-gpus.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { testServing } from '../../../testing/test-serving.ts';
import { costMicro } from '../../billing/prices/cost.ts';
import { defaultPrice } from '../../billing/prices/default-price.ts';
import { insertFlux, insertModel, insertParis } from '../testing/test-models.ts';

const { server, driver, balance } = await testServing({
  capacity: { 'cpu:deployment': 2, gpus: [unlisted('A Small GPU', 12, [0])] },
});
let ada: TestUser;
beforeEach(async () => {
  ada = await server.signUp();
});

const body = (model_id: string) => ({ model_id, user_id: ada.userId });
const params = () => ({ userId: ada.userId });
const deploy = (assetId: string) =>
  server.request(imageCalls.paris.deploy, { body: body(assetId) }, { as: ada });
const quote = (assetId: string) =>
  server.request(imageCalls.paris.quote, { body: body(assetId) }, { as: ada });
const terminate = (podId: string, endpoint = imageCalls.paris.terminate) =>
  server.request(endpoint, { params: { podId }, query: { user_id: ada.userId } }, { as: ada });
const list = async (endpoint: typeof imageCalls.paris.list) =>
  (await server.request(endpoint, { params: params(), query: {} }, { as: ada })).deployments;
/** Pretends that the file has this size, without the bytes. */
const grow = (assetId: string, part: string, bytes: number) =>
  sql`update asset_files set size_bytes = ${bytes} where asset_id = ${assetId} and path like ${`${part}%`}`.execute(
    server.services.db,
  );

test('a full-size Paris is deployed on a GPU that holds one of its experts, is priced, listed and terminated', async () => {
  const { assetId } = await insertParis(server.services, ada, 'Full Paris');
  await grow(assetId, 'expert_', 2_420_000_000);
  await grow(assetId, 'router/', 520_000_000);
  const hour = costMicro([{ price: defaultPrice('image_serving:GPU'), parts: 3_600_000n }]);
  // The model's card names no licence, so the user need not accept one.
  expect(await quote(assetId)).toMatchObject({
    title: 'Full Paris',
    licence: null,
    device: '1 x A Small GPU',
  });

  const { pod_id } = await deploy(assetId);
  expect((await balance(ada)).held).toBe(hour);
  await vi.waitFor(
    async () =>
      expect(
        await server.request(getImageDeployment, { params: { podId: pod_id } }, { as: ada }),
      ).toMatchObject({
        kind: 'paris',
        model_name: 'full-paris',
        status: 'running',
        device: '1 x A Small GPU',
      }),
    { interval: 50 },
  );
  expect(driver.running().map(({ spec }) => spec)).toMatchObject([
    { kind: 'serve', task: 'image', engine: 'paris', gpus: 1 },
  ]);
  for (const endpoint of [imageCalls.paris.list, listImageDeployments])
    expect(await list(endpoint)).toMatchObject([{ pod_id, kind: 'paris', title: 'Full Paris' }]);

  await expect(terminate(pod_id, imageCalls.flux.terminate)).rejects.toMatchObject({ status: 404 });
  expect(await terminate(pod_id)).toMatchObject({ status: 'stopped', inference_url: null });
  expect(await list(imageCalls.paris.list)).toEqual([]);
});

test('rejects a Paris without a GPU for one expert, names the GPU it needs and holds nothing', async () => {
  const { assetId } = await insertParis(server.services, ada, 'Large Paris');
  await grow(assetId, 'expert_', 9_000_000_000);
  await expect(deploy(assetId)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining(
      'Large Paris needs a GPU with at least 14 GB of memory, and this server has none',
    ),
  });
  expect((await balance(ada)).held).toBe(0n);
});

const parts = ['expert_0', 'router', 'vae', 'text_encoder'];

test.each(parts)('rejects a Paris without the weights of %s', async (part) => {
  const names = parts.filter((one) => one !== part);
  const weights = names.map((one) => [`${one}/model.safetensors`, `weights of ${one}`]);
  const index = { 'model_index.json': '{"_class_name": "DDMPipeline"}' };
  const files = { ...index, ...Object.fromEntries(weights) };
  const { assetId } = await insertModel(server.services, ada, 'Part', files);
  await expect(deploy(assetId)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining(`Part has no weights in safetensors in its folder ${part}`),
  });
});

const small = async (window: unknown, more: Record<string, string> = {}) => {
  const index = JSON.stringify({ _class_name: 'DDMPipeline', text_window: window });
  const weights = ['expert_0', 'router', 'vae'].map((part) => [`${part}/model.safetensors`, part]);
  const files = { 'model_index.json': index, ...Object.fromEntries(weights), ...more };
  return (await insertModel(server.services, ada, 'Small Paris', files)).assetId;
};

test('a Paris with a text_window uses the installed sentence encoder', async () => {
  expect(await quote(await small(32))).toMatchObject({ title: 'Small Paris' });
});

test.each([
  ['no number', null, {}, 'no weights in safetensors in its folder text_encoder'],
  ['too large', 257, {}, 'no weights in safetensors in its folder text_encoder'],
  [
    'beside a text encoder, which comes first,',
    32,
    { 'text_encoder/config.json': '{}' },
    'no weights in safetensors in its folder text_encoder',
  ],
  [
    'beside a text encoder without a tokenizer',
    32,
    { 'text_encoder/model.safetensors': 'CLIP' },
    'no tokenizer',
  ],
])('a text_window that is %s does not replace a text encoder', async (_what, window, files, message) => {
  await expect(quote(await small(window, files))).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining(`Small Paris has ${message}`),
  });
});

test('rejects a FLUX model as a Paris and a Paris as a FLUX model', async () => {
  const { assetId: flux } = await insertFlux(server.services, ada, 'My Flux');
  const { assetId: paris } = await insertParis(server.services, ada, 'My Paris');
  await expect(deploy(flux)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('My Flux is not a Paris model'),
  });
  await expect(
    server.request(imageCalls.flux.deploy, { body: body(paris) }, { as: ada }),
  ).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('names the pipeline DDMPipeline'),
  });
});
