import { type Generation, quoteGeneration, startGeneration } from '@bakehouse/contract/generations';
import { type GeneratorName, listGenerators } from '@bakehouse/contract/generators';
import { listKontextImages } from '@bakehouse/contract/kontext';
import { uploadPicture } from '@bakehouse/contract/media';
import OpenAI, { toFile } from 'openai';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LeaseLoop } from '../../../platform/leases/lease-loop.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { insertStarter } from '../../deployments/testing/test-models.ts';
import { pictureFiles } from '../testing/picture-files.ts';
import { serviceGenerations } from '../testing/service-generations.ts';

/* Edits by services, and the choice between several services. */

const setting = await serviceGenerations();
const { server, upstream, connect, startGenerationLoop, held, charges, untilEnded } = setting;

let ada: TestUser;
let loop: LeaseLoop;
afterEach(() => loop.stop());
beforeEach(async () => {
  loop = startGenerationLoop();
  ada = await setting.begin();
});

const inBase64 = pictureFiles.jpeg.toString('base64');
const upload = async (): Promise<string> => {
  const body = new FormData();
  body.append('file', new Blob([new Uint8Array(pictureFiles.jpeg)]), 'bread.jpeg');
  const headers = { 'x-api-key': ada.apiKey };
  const sent = await fetch(server.url + uploadPicture.path, { method: 'POST', body, headers });
  return ((await sent.json()) as { id: string }).id;
};
const edit = async (
  named: { service?: string; model?: string },
  parameters: Generation['parameters'] = {},
  more: { mask_id?: string } = {},
) =>
  server.request(
    startGeneration,
    {
      body: {
        ...{ generator: 'flux-kontext', prompt: 'Make it blue', parameters, picture_id: await upload() },
        ...named,
        ...more,
      },
    },
    { as: ada },
  );

test.each([
  [
    'fal',
    'fal',
    { guidance_scale: 3, seed: 7 },
    {
      path: '/fal-ai/flux-pro/kontext',
      body: {
        ...{ prompt: 'Make it blue', guidance_scale: 3, seed: 7, output_format: 'png' },
        image_url: `data:image/jpeg;base64,${inBase64}`,
      },
    },
  ],
  [
    'blackForestLabs',
    'Black Forest Labs',
    { seed: 7 },
    {
      path: '/v1/flux-kontext-pro',
      body: { prompt: 'Make it blue', seed: 7, output_format: 'png', input_image: inBase64 },
    },
  ],
  [
    'replicate',
    'Replicate',
    { seed: 7 },
    {
      path: '/v1/models/black-forest-labs/flux-kontext-pro/predictions',
      body: {
        input: {
          ...{ prompt: 'Make it blue', seed: 7, output_format: 'png' },
          input_image: expect.stringMatching(/\/v1\/files\/file_1$/),
        },
      },
    },
  ],
] as const)(
  'sends the picture to %s in its own format, and charges its price',
  async (name, title, parameters, submission) => {
    connect(name);
    const started = await edit({}, parameters);
    expect(started).toMatchObject({ provider: 'upstream', service: title, cost: '1' });
    const done = await untilEnded(started.id);
    expect(done).toMatchObject({ state: 'completed', seed: 7, parameters, source: { width: 6, height: 4 } });
    expect(upstream.state.submissions).toMatchObject([submission]);
    expect(upstream.state.uploads).toHaveLength(name === 'replicate' ? 1 : 0);
    for (const form of upstream.state.uploads) expect(form).toContain('Content-Type: image/jpeg');
    expect([await charges(), await held()]).toEqual([['1'], '0']);
    const call = { params: { userId: ada.userId } };
    const { images } = await server.request(listKontextImages, call, { as: ada });
    expect(images).toMatchObject([
      { seed: 7, num_inference_steps: null, guidance_scale: name === 'fal' ? 3 : null },
    ]);
  },
);

test('a mask is rejected, because no service of the editor takes one', async () => {
  connect('fal');
  const refused = edit({ service: 'fal' }, {}, { mask_id: await upload() });
  await expect(refused).rejects.toMatchObject({ status: 400, body: { error: { param: 'mask_id' } } });
});

test("OpenAI's edit call accepts a generator's name and requires an image", async () => {
  connect('fal');
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: ada.apiKey, maxRetries: 0 });
  const image = await toFile(pictureFiles.jpeg, 'bread.jpeg', { type: 'image/jpeg' });
  const asked = { prompt: 'Make it blue', model: 'flux-kontext', image };
  const { data } = await client.images.edit({ ...asked, ...{ seed: 7 } });
  expect(data).toHaveLength(1);
  expect(upstream.state.submissions).toMatchObject([{ path: '/fal-ai/flux-pro/kontext', body: { seed: 7 } }]);
  await expect(client.images.edit({ ...asked, ...{ num_inference_steps: 4 } })).rejects.toMatchObject({
    ...{ status: 400, error: { param: 'num_inference_steps' } },
  });
  await expect(client.images.generate({ prompt: 'Bread', model: 'flux-kontext' })).rejects.toMatchObject({
    ...{ status: 404, error: { param: 'model' } },
  });
});

test('a named service generates with its own fields; without a name the first service does', async () => {
  connect('fal', 'blackForestLabs');
  const { generators } = await server.request(listGenerators, {});
  expect(generators.find(({ name }) => name === 'flux')?.upstreams).toMatchObject([
    { title: 'Black Forest Labs', price: '0.625', fields: ['aspect_ratio', 'num_inference_steps', 'seed'] },
    { title: 'fal', price: '0.625', fields: expect.arrayContaining(['guidance_scale', 'n']) },
  ]);
  const generate = (named: object, parameters = {}) =>
    server.request(
      startGeneration,
      { body: { generator: 'flux' as const, prompt: 'Bread', parameters, ...named } },
      { as: ada },
    );
  expect(await generate({})).toMatchObject({ service: 'Black Forest Labs', model: 'flux-dev' });
  const started = await generate({ service: 'fal' }, { n: 2 });
  expect(started).toMatchObject({ service: 'fal', model: 'fal-ai/flux/dev', cost: '1.25' });
  expect((await untilEnded(started.id)).outputs).toHaveLength(2);
  const quote = (service: string, generator: GeneratorName = 'flux') =>
    server.request(quoteGeneration, { body: { generator, parameters: { n: 2 }, service } }, { as: ada });
  expect(await quote('fal')).toEqual({ cost: '1.25' });
  await expect(quote('Black Forest Labs')).rejects.toMatchObject({
    body: { error: { param: 'parameters.n' } },
  });
  await expect(quote('Replicate')).rejects.toMatchObject({
    status: 404,
    body: {
      error: {
        param: 'service',
        message: "No service 'Replicate' serves this here. service must be one of 'Black Forest Labs', 'fal'",
      },
    },
  });
  await expect(generate({ service: 'fal', model: 'rye' })).rejects.toMatchObject({
    ...{ status: 400, body: { error: { param: 'service' } } },
  });
});

test('a call can name the editing starter in place of a service', async () => {
  connect('fal');
  await loop.stop();
  await insertStarter(server.services, 'kontext-starter');
  const starter = await edit({ model: 'kontext-starter' });
  expect(starter).toMatchObject({ provider: 'own', model: 'kontext-starter', service: null });
  expect(await edit({})).toMatchObject({ provider: 'upstream' });
  const { generators } = await server.request(listGenerators, {});
  expect(generators.find(({ name }) => name === 'flux-kontext')).toMatchObject({
    served_by: ['upstream', 'own'],
    inference_url: expect.stringContaining('kontext-starter'),
  });
});
