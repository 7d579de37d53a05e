import {
  deployFlux,
  deployFluxKontext,
  getImageDeployment,
  terminateFlux,
} from '@bakehouse/contract/image-deployments';
import { beforeEach, expect, test } from 'vitest';
import { testDrawing } from '../../../testing/test-drawing.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { insertFlux } from '../../deployments/testing/test-models.ts';
import { pictureFiles } from '../testing/picture-files.ts';

/** A model server comes up and two pictures are drawn. */
const WAIT = { timeout: 180_000 };

const { server, stub, balance, driver } = await testDrawing();

let ada: TestUser;
beforeEach(async () => {
  stub.requests.length = 0;
  ada = await server.signUp('Ada');
});

async function deploy(endpoint: typeof deployFlux, title: string) {
  const { assetId } = await insertFlux(server.services, ada, title);
  const body = { model_id: assetId, user_id: ada.userId };
  const { pod_id } = await server.request(endpoint, { body }, { as: ada });
  return server.request(getImageDeployment, { params: { podId: pod_id } }, { as: ada });
}

const terminate = (podId: string) =>
  server.request(terminateFlux, { params: { podId }, query: { user_id: ada.userId } }, { as: ada });

async function edit(inferenceUrl: string | null, as: TestUser = ada) {
  const body = new FormData();
  body.append('file', new Blob([new Uint8Array(pictureFiles.png)]), 'bread.png');
  body.append('prompt', 'Make it blue');
  body.append('num_inference_steps', '10');
  return send(`${inferenceUrl}/edit`, body, as);
}

async function send(address: string, body: FormData | URLSearchParams, as: TestUser) {
  const url = new URL(new URL(address).pathname, server.url);
  const answer = await fetch(url, { method: 'POST', body, headers: { 'x-api-key': as.apiKey } });
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
}

test(
  'a picture is edited by a deployment at its address, which takes its owner’s key alone',
  WAIT,
  async () => {
    const { pod_id, inference_url } = await deploy(deployFluxKontext, 'My Editor');
    const held = (await balance(ada)).held;
    expect(await edit(inference_url)).toMatchObject({
      status: 200,
      json: { image_url: expect.any(String), image_id: expect.any(String), integrity_checked: true },
    });
    expect((await balance(ada)).held).toBe(held);
    const body = new URLSearchParams({
      prompt: 'Make it red',
      num_inference_steps: '10',
      image_url: `data:image/png;base64,${pictureFiles.png.toString('base64')}`,
    });
    expect((await send(`${inference_url}/edit_url`, body, ada)).status).toBe(200);
    const models = await server.services.db
      .selectFrom('generations')
      .select(['model', 'state'])
      .where('user_id', '=', ada.userId)
      .execute();
    expect(models).toEqual([
      { model: 'my-editor', state: 'completed' },
      { model: 'my-editor', state: 'completed' },
    ]);
    // By its own model server: the starter's was never asked for.
    expect(driver.running()).toHaveLength(1);
    expect(stub.requests).toMatchObject([{ prompt: 'Make it blue' }, { prompt: 'Make it red' }]);

    const bob = await server.signUp('Bob');
    expect((await edit(inference_url, bob)).status).toBe(404);
    await terminate(pod_id);
    expect(await edit(inference_url)).toMatchObject({
      status: 409,
      json: { error: { message: 'My Editor has ended. Terminated by you' } },
    });
  },
);

test('what is deployed to draw edits nothing', async () => {
  const { pod_id, inference_url } = await deploy(deployFlux, 'My Drawer');
  expect(await edit(inference_url)).toMatchObject({
    status: 409,
    json: { error: { message: 'My Drawer is deployed to draw. Deploy it as Kontext to edit pictures' } },
  });
  await terminate(pod_id);
});
