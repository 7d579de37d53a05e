import type { CallOf } from '@bakehouse/contract/endpoint';
import { getGeneration, startGeneration } from '@bakehouse/contract/generations';
import { WAN_STARTER } from '@bakehouse/contract/generators/wan';
import { uploadPicture } from '@bakehouse/contract/media';
import sharp from 'sharp';
import { expect, test, vi } from 'vitest';
import { readConfig } from '../../config.ts';
import { hasLayer } from '../../engine/host/environment/environment.ts';
import { listImageStarter } from '../../engine/host/preparation/image-starters.ts';
import { type TestServer, type TestUser, testServer } from '../../testing/test-server.ts';
import { insertModel } from '../deployments/testing/test-models.ts';
import { registerImageStarter } from '../models/starter/register-starters.ts';
import { pictureFiles } from './testing/picture-files.ts';
import { starterLora } from './testing/starter-lora.ts';

// The real runtime and the starter models, through the whole program.
const { cacheDir } = readConfig({});
const isReady = await hasLayer(readConfig({}), 'training');

type Body = CallOf<typeof startGeneration>['body'];

async function finish(server: TestServer, as: TestUser, body: Body) {
  const { id } = await server.request(startGeneration, { body }, { as });
  const done = await vi.waitFor(
    async () => {
      const generation = await server.request(getGeneration, { params: { id } }, { as });
      expect(generation.state, generation.reason).toBe('completed');
      return generation;
    },
    { timeout: 240_000, interval: 50 },
  );
  const [output] = done.outputs;
  expect(output?.width).toBeGreaterThan(32);
  const bytes = Buffer.from(await (await fetch(new URL(output?.url ?? '', server.url))).arrayBuffer());
  // The file's metadata includes the prompt.
  expect(bytes.toString('latin1')).toContain(body.prompt);
  return { ...done, bytes };
}

/** The starter's output, which is the same for every request. */
const madeByStarter = {
  ...{ media_type: 'video/mp4', width: 64, height: 64, frames: 17, duration_s: 2.125, has_audio: false },
  strip_url: expect.any(String),
};

const start = () =>
  testServer({ config: { driver: 'local', cacheDir }, roles: ['web', 'worker', 'reconciler'] });

test.skipIf(!isReady)('the starter models generate and edit a picture', { timeout: 600_000 }, async () => {
  const server = await start();
  for (const name of ['paris', 'kontext'] as const)
    await registerImageStarter(server.services, name, await listImageStarter(name));
  const as = await server.signUp('Ada');
  const generated = await finish(server, as, {
    generator: 'paris',
    prompt: 'A red bus on a street',
    parameters: { num_inference_steps: 10, sampling_strategy: 'topk', k: 2, seed: 7 },
  });
  expect(generated.bytes.subarray(1, 4).toString()).toBe('PNG');
  expect(generated.expert_weights).toHaveLength(10);
  for (const weights of generated.expert_weights ?? []) expect(weights).toHaveLength(8);

  const edit = (parameters: Body['parameters'] = {}) =>
    finish(server, as, {
      generator: 'flux-kontext',
      prompt: 'Make it blue',
      parameters: { num_inference_steps: 10, seed: 7, ...parameters },
      source_generation_id: generated.id,
    });
  const edited = await edit();
  expect(edited).toMatchObject({
    expert_weights: null,
    root_id: generated.id,
    source: { generation_id: generated.id },
  });
  expect(edited.bytes).not.toEqual(generated.bytes);

  const files = { 'pytorch_lora_weights.safetensors': starterLora() };
  const { assetId: lora } = await insertModel(server.services, as, 'Watercolour', files);
  const changed = await edit({ lora });
  expect(changed.lora_revision).toMatchObject({ asset_id: lora, number: 1 });
  const pixels = async (bytes: Buffer) => (await sharp(bytes).raw().toBuffer()).toString('hex');
  expect(await pixels(changed.bytes)).not.toBe(await pixels(edited.bytes));
  expect(await pixels((await edit({ lora, lora_scale: 0 })).bytes)).toBe(await pixels(edited.bytes));
});

test.skipIf(!isReady)(
  'the video starter generates from a prompt, and from a prompt and a picture',
  { timeout: 600_000 },
  async () => {
    const server = await start();
    await registerImageStarter(server.services, 'wan', await listImageStarter('wan'));
    const as = await server.signUp('Ada');
    const parameters = { num_inference_steps: 2, guidance_scale: 1, seed: 7 };
    const video = { generator: 'wan' as const, prompt: 'a red apple moves to the right', parameters };
    const made = await finish(server, as, video);
    expect(made).toMatchObject({ model: WAN_STARTER, outputs: [madeByStarter] });
    expect(made.bytes.subarray(4, 8).toString()).toBe('ftyp');

    const sent = new FormData();
    sent.append('file', new Blob([new Uint8Array(pictureFiles.png)]), 'bread.png');
    const headers = { 'x-api-key': as.apiKey };
    const kept = await fetch(server.url + uploadPicture.path, { method: 'POST', body: sent, headers });
    const { id: picture_id } = (await kept.json()) as { id: string };
    const begun = await finish(server, as, { ...video, picture_id });
    expect(begun).toMatchObject({ outputs: [madeByStarter], source: { width: 6, height: 4 } });
    expect(begun.bytes).not.toEqual(made.bytes);
  },
);
