import { readFile } from 'node:fs/promises';
import { getImageDeployment, imageCalls } from '@bakehouse/contract/deployments/images';
import { getGeneration, startGeneration } from '@bakehouse/contract/generations';
import { KONTEXT_STARTER } from '@bakehouse/contract/generators/flux-kontext';
import { expect, test, vi } from 'vitest';
import { readConfig } from '../../config.ts';
import { hasLayer } from '../../engine/host/environment/environment.ts';
import { listImageStarter } from '../../engine/host/preparation/image-starters.ts';
import { testServer } from '../../testing/test-server.ts';
import { insertModel } from '../deployments/testing/test-models.ts';
import { registerImageStarter } from '../models/starter/register-starters.ts';
import { pictureFiles } from './testing/picture-files.ts';

// The real runtime and the starter model, through the whole program.
const { cacheDir } = readConfig({});
const isReady = await hasLayer(readConfig({}), 'training');

test.skipIf(!isReady)(
  'deploys the editing starter on the CPU and edits with it',
  { timeout: 600_000 },
  async () => {
    const server = await testServer({
      config: { driver: 'local', cacheDir },
      roles: ['web', 'worker', 'reconciler'],
    });
    await registerImageStarter(server.services, 'kontext', await listImageStarter('kontext'));
    const as = await server.signUp('Ada');
    const body = { model_id: KONTEXT_STARTER, user_id: as.userId };
    const { pod_id: podId } = await server.request(imageCalls['flux-kontext'].deploy, { body }, { as });
    await vi.waitFor(
      async () => {
        const found = await server.request(getImageDeployment, { params: { podId } }, { as });
        expect(found, found.reason).toMatchObject({ status: 'running', device: 'CPU' });
      },
      { timeout: 400_000, interval: 200 },
    );
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(pictureFiles.png)]), 'bread.png');
    form.append('prompt', 'Make it blue');
    form.append('num_inference_steps', '4');
    const answer = await fetch(`${server.url}/v1/deployments/${podId}/edit`, {
      method: 'POST',
      body: form,
      headers: { 'x-api-key': as.apiKey },
    });
    const edited = (await answer.json()) as { image_url: string };
    expect(answer.status, JSON.stringify(edited)).toBe(200);
    const picture = await fetch(
      new URL(new URL(edited.image_url).pathname + new URL(edited.image_url).search, server.url),
    );
    expect(picture.headers.get('content-type')).toBe('image/png');

    const call = { params: { podId }, query: { user_id: as.userId } };
    expect(await server.request(imageCalls['flux-kontext'].terminate, call, { as })).toMatchObject({
      status: 'stopped',
    });
    const list = { params: { userId: as.userId } };
    expect((await server.request(imageCalls['flux-kontext'].list, list, { as })).deployments).toEqual([]);
  },
);

test.skipIf(!isReady)(
  'deploys an uploaded Paris, which generates with its experts',
  { timeout: 600_000 },
  async () => {
    const server = await testServer({
      config: { driver: 'local', cacheDir },
      roles: ['web', 'worker', 'reconciler'],
    });
    const as = await server.signUp('Ada');
    // The starter's files, uploaded as a user's model.
    const files = (await listImageStarter('paris')).map(async ({ path, localPath }) => [
      path,
      await readFile(localPath),
    ]);
    const content = Object.fromEntries(await Promise.all(files));
    const { assetId, revisionId } = await insertModel(server.services, as, 'My Paris', content);
    const body = { model_id: assetId, user_id: as.userId };
    const { pod_id: podId } = await server.request(imageCalls.paris.deploy, { body }, { as });
    const { model_name: model } = await server.request(getImageDeployment, { params: { podId } }, { as });
    const parameters = { num_inference_steps: 10, sampling_strategy: 'topk', k: 2 };
    const asked = { generator: 'paris' as const, model, prompt: 'a red apple on a table', parameters };
    const { id } = await server.request(startGeneration, { body: asked }, { as });
    await vi.waitFor(
      async () => {
        const made = await server.request(getGeneration, { params: { id } }, { as });
        expect(made, made.reason).toMatchObject({
          ...{ state: 'completed', model, model_revision: { revision_id: revisionId } },
          ...{ expert_used: expect.any(Number), outputs: [{ width: 128, height: 128 }] },
        });
      },
      { timeout: 400_000, interval: 200 },
    );
    const call = { params: { podId }, query: { user_id: as.userId } };
    expect(await server.request(imageCalls.paris.terminate, call, { as })).toMatchObject({
      status: 'stopped',
    });
  },
);
