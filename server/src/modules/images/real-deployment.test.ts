import {
  deployFluxKontext,
  getImageDeployment,
  listFluxKontext,
  terminateFluxKontext,
} from '@bakehouse/contract/image-deployments';
import { KONTEXT_STARTER } from '@bakehouse/contract/kontext';
import { expect, test, vi } from 'vitest';
import { readConfig } from '../../config.ts';
import { hasLayer } from '../../engine/machine/environment/has-layer.ts';
import { listImageStarter } from '../../engine/machine/preparation/image-starters.ts';
import { testServer } from '../../testing/test-server.ts';
import { registerImageStarter } from '../assets/starter/register-image-starter.ts';
import { pictureFiles } from './testing/picture-files.ts';

// The real runtime and the starter model, through the whole program.
const { cacheDir } = readConfig({});
const isReady = await hasLayer(readConfig({}), 'training');

test.skipIf(!isReady)(
  'the starter editor is deployed on the CPU, and edits',
  { timeout: 600_000 },
  async () => {
    const server = await testServer({
      config: { driver: 'local', cacheDir },
      roles: ['web', 'worker', 'reconciler'],
    });
    await registerImageStarter(server.services, 'kontext', await listImageStarter('kontext'));
    const as = await server.signUp('Ada');
    const body = { model_id: KONTEXT_STARTER, user_id: as.userId };
    const { pod_id: podId } = await server.request(deployFluxKontext, { body }, { as });
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
    expect(await server.request(terminateFluxKontext, call, { as })).toMatchObject({ status: 'stopped' });
    const list = { params: { userId: as.userId } };
    expect((await server.request(listFluxKontext, list, { as })).deployments).toEqual([]);
  },
);
