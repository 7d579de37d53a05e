import { listModels } from '@bakehouse/contract/chat';
import { getImageDeployment, imageCalls } from '@bakehouse/contract/deployments/images';
import { listGenerations, quoteGeneration, startGeneration } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import { KONTEXT_STARTER } from '@bakehouse/contract/generators/flux-kontext';
import { uploadPicture } from '@bakehouse/contract/media';
import OpenAI, { toFile } from 'openai';
import { beforeEach, expect, test, vi } from 'vitest';
import { insertFlux, insertParis, insertStarter } from '../../../modules/deployments/testing/test-models.ts';
import { pictureFiles } from '../../../modules/generations/testing/picture-files.ts';
import { testGenerations } from '../../../testing/test-generations.ts';
import type { TestUser } from '../../../testing/test-server.ts';

/* Deployments of image models, by their API names. */

// Each deployment has its own model server.
const { server, stub } = await testGenerations({ cpuPlaces: 12 });

let ada: TestUser;
beforeEach(async () => {
  stub.requests.length = 0;
  ada = await server.signUp('Ada');
});

const list = async () =>
  (await server.request(listGenerations, { params: { userId: ada.userId }, query: {} }, { as: ada }))
    .generations;
/** A request without a model, as the editing page sends it. */
const startEdit = async () => {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(pictureFiles.png)]), 'bread.png');
  const sent = await fetch(server.url + uploadPicture.path, {
    ...{ method: 'POST', body: form, headers: { 'x-api-key': ada.apiKey } },
  });
  const { id } = (await sent.json()) as { id: string };
  const body = { generator: 'flux-kontext' as const, prompt: 'Make it blue', picture_id: id, parameters: {} };
  return server.request(startGeneration, { body }, { as: ada });
};
const deploy = async (endpoint: typeof imageCalls.flux.deploy, title: string, insert = insertFlux) => {
  const { assetId, revisionId } = await insert(server.services, ada, title);
  const body = { model_id: assetId, user_id: ada.userId };
  const { pod_id: podId } = await server.request(endpoint, { body }, { as: ada });
  const { model_name } = await server.request(getImageDeployment, { params: { podId } }, { as: ada });
  return { podId, model: model_name, modelRevision: { asset_id: assetId, revision_id: revisionId } };
};
const terminate = (podId: string) =>
  server.request(
    imageCalls.flux.terminate,
    { params: { podId }, query: { user_id: ada.userId } },
    { as: ada },
  );
const clientOf = (as: TestUser) =>
  new OpenAI({ baseURL: `${server.url}/v1`, apiKey: as.apiKey, maxRetries: 0 });
const image = () => toFile(pictureFiles.png, 'bread.png', { type: 'image/png' });

test("is listed, and generates and edits by its name over OpenAI's images API for its owner until it ends", async () => {
  const flux = await deploy(imageCalls.flux.deploy, 'My painter');
  const kontext = await deploy(imageCalls['flux-kontext'].deploy, 'My retoucher');
  await insertStarter(server.services, 'starter-model');
  const { data } = await server.request(listModels, {}, { as: ada });
  // The list starts with chat models.
  expect(data[0]).toMatchObject({ id: 'starter-model', task: 'text' });
  const owned = data.filter(({ owned_by }) => owned_by === ada.userId);
  expect(Object.fromEntries(owned.map(({ id, task }) => [id, task]))).toEqual({
    [flux.model]: 'image',
    [kontext.model]: 'image',
  });
  const prompt = 'Bread';
  for (const { model, modelRevision } of [flux, kontext]) {
    const generated = await clientOf(ada).images.generate({ prompt, model, size: '1024x1024', n: 1 });
    expect(generated.data).toHaveLength(1);
    expect(generated.size).toBe('1x1');
    const asked = { prompt, steps: 28, guidance: 3.5, format: 'png', picture: null };
    expect(stub.requests.at(-1)).toMatchObject(asked);
    expect((await list())[0]).toMatchObject({
      ...{ generator: 'flux', provider: 'own', model, cost: '0.14' },
      model_revision: { ...modelRevision, number: 1 },
    });
  }
  await clientOf(ada).images.edit({ prompt, model: kontext.model, image: await image() });
  expect(stub.requests.at(-1)).toMatchObject({ steps: 28, picture: pictureFiles.png.toString('base64') });
  expect((await list())[0]).toMatchObject({
    ...{ generator: 'flux-kontext', model: kontext.model, cost: '0.14' },
  });

  const own = { seed: 7, num_inference_steps: 4, guidance_scale: 2 };
  const asked = { seed: 7, steps: 4, guidance: 2 };
  await clientOf(ada).images.generate({ prompt, model: flux.model, ...own });
  expect(stub.requests.at(-1)).toMatchObject(asked);
  await clientOf(ada).images.edit({ prompt, model: kontext.model, image: await image(), ...own });
  expect(stub.requests.at(-1)).toMatchObject(asked);

  const bob = clientOf(await server.signUp('Bob'));
  const notFound = { status: 404, error: { param: 'model' } };
  await expect(bob.images.generate({ prompt, model: flux.model })).rejects.toMatchObject(notFound);
  const edit = { prompt, model: flux.model, image: await image() };
  await expect(clientOf(ada).images.edit(edit)).rejects.toMatchObject(notFound);
  await terminate(flux.podId);
  await expect(clientOf(ada).images.generate({ prompt, model: flux.model })).rejects.toMatchObject(notFound);
});

test('the owner can name it in the generic calls, with steps, guidance and seed', async () => {
  const flux = await deploy(imageCalls.flux.deploy, 'My painter');
  const kontext = await deploy(imageCalls['flux-kontext'].deploy, 'My retoucher');
  const parameters = { seed: 7, num_inference_steps: 4, guidance_scale: 2 };
  const body = { generator: 'flux' as const, model: flux.model, parameters };
  expect(await server.request(quoteGeneration, { body }, { as: ada })).toEqual({ cost: '0.02' });
  const generate = (changed: { generator?: GeneratorName; model?: string }, as = ada) =>
    server.request(startGeneration, { body: { ...body, prompt: 'Bread', ...changed } }, { as });
  for (const model of [flux.model, kontext.model]) {
    stub.requests.length = 0;
    expect(await generate({ model })).toMatchObject({ provider: 'own', model, cost: '0.02' });
    const asked = { prompt: 'Bread', seed: 7, steps: 4, guidance: 2, picture: null };
    await vi.waitFor(() => expect(stub.requests).toMatchObject([asked]));
  }

  const notFound = { status: 404, body: { error: { param: 'model' } } };
  const bob = await server.signUp('Bob');
  await expect(generate({}, bob)).rejects.toMatchObject(notFound);
  await expect(server.request(quoteGeneration, { body }, { as: bob })).rejects.toMatchObject(notFound);
  for (const generator of ['paris', 'flux-kontext'] as const)
    await expect(generate({ generator })).rejects.toMatchObject(notFound);
  await terminate(flux.podId);
  await expect(generate({})).rejects.toMatchObject(notFound);
});

test.each([
  ['size', { size: '1536x1024' as const }],
  ['quality', { quality: 'hd' as const }],
  ['n', { n: 2 }],
  ['output_format', { output_format: 'webp' as const }],
  ['seed', { seed: -1 }],
  ['num_inference_steps', { num_inference_steps: 51 }],
])('rejects %s with its name', async (param, wrong) => {
  const { model } = await deploy(imageCalls.flux.deploy, 'My painter');
  const asked = clientOf(ada).images.generate({ prompt: 'Bread', model, ...wrong });
  await expect(asked).rejects.toMatchObject({ status: 400, error: { param } });
  expect(stub.requests).toEqual([]);
});

test("of Paris generates with the starter's settings; the starter remains the default model", async () => {
  const { podId, model } = await deploy(imageCalls.paris.deploy, 'My Paris', insertParis);
  const prompt = 'Bread';
  await clientOf(ada).images.generate({ prompt, model, output_format: 'webp' });
  expect(stub.requests.at(-1)).toMatchObject({
    ...{ prompt, steps: 20, guidance: 7.5, strategy: 'topk', k: 2, format: 'webp' },
  });
  expect((await list())[0]).toMatchObject({ generator: 'paris', provider: 'own', model, cost: '0.25' });
  await clientOf(ada).images.generate({
    ...{ prompt, model, seed: 7, num_inference_steps: 10, guidance_scale: 2 },
  } as never);
  expect(stub.requests.at(-1)).toMatchObject({ seed: 7, steps: 10, guidance: 2 });
  await expect(
    clientOf(ada).images.generate({ prompt, model, guidance_scale: 20 } as never),
  ).rejects.toMatchObject({ status: 400, error: { param: 'guidance_scale' } });

  const parameters = { sampling_strategy: 'full', seed: 7 };
  const start = (named: { model?: string }) =>
    server.request(
      startGeneration,
      { body: { generator: 'paris', prompt, parameters, ...named } },
      { as: ada },
    );
  expect(await start({ model })).toMatchObject({ model, parameters: { k: 8 } });
  for (const named of [{}, { model: 'paris-ddm-v1.0' }])
    expect(await start(named)).toMatchObject({ model: 'paris-ddm-v1.0' });
  const notFound = { status: 404, body: { error: { param: 'model' } } };
  const flux = { generator: 'flux' as const, model, parameters: {} };
  await expect(server.request(quoteGeneration, { body: flux }, { as: ada })).rejects.toMatchObject(notFound);
  await server.request(
    imageCalls.paris.terminate,
    { params: { podId }, query: { user_id: ada.userId } },
    { as: ada },
  );
  await expect(start({ model })).rejects.toMatchObject(notFound);
});

test("edits its owner's pictures in the app while it is active; API calls without a model use the starter", async () => {
  const { podId, model } = await deploy(imageCalls['flux-kontext'].deploy, 'My retoucher');
  const edit = async () => (await startEdit()).model;
  expect(await edit()).toBe(model);
  const starter = { prompt: 'Make it blue', image: await image(), size: '1024x1024' as const };
  expect((await clientOf(ada).images.edit(starter)).size).toBe('1x1');
  expect((await list())[0]?.model).toBe('kontext-starter');
  await expect(clientOf(ada).images.edit({ ...starter, model })).rejects.toMatchObject({
    status: 400,
    error: { param: 'size' },
  });
  await terminate(podId);
  expect(await edit()).toBe('kontext-starter');
});

test('of the starter also generates from a prompt alone; without a service, the newest own deployment generates', async () => {
  const body = { model_id: KONTEXT_STARTER, user_id: ada.userId };
  const { pod_id: podId } = await server.request(imageCalls['flux-kontext'].deploy, { body }, { as: ada });
  const { model_name: model } = await server.request(getImageDeployment, { params: { podId } }, { as: ada });
  const quoted = { generator: 'flux' as const, parameters: {} };
  const asStarter = await server.request(quoteGeneration, { body: { ...quoted, model } }, { as: ada });
  expect(asStarter).toEqual({ cost: '0.14' });
  await clientOf(ada).images.generate({ prompt: 'Bread', model });
  expect(stub.requests.at(-1)).toMatchObject({ prompt: 'Bread', steps: 28, guidance: 3.5, picture: null });

  const flux = await deploy(imageCalls.flux.deploy, 'My painter');
  const started = { ...quoted, prompt: 'Bread' };
  expect(await server.request(startGeneration, { body: started }, { as: ada })).toMatchObject({
    model: flux.model,
  });
});
