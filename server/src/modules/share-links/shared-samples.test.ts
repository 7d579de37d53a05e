import { startDiffusionTraining } from '@bakehouse/contract/diffusion-training';
import { getRun, makeCheckpointModel } from '@bakehouse/contract/runs';
import type { PicturesReport } from '@bakehouse/contract/runtime/validate-pictures-spec';
import { type SharedSamples, shareModel, shareRun, unshareRun } from '@bakehouse/contract/share-links';
import { expect, test, vi } from 'vitest';
import { createFakeDriver, type Script } from '../../engine/drivers/fake/fake-driver.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { testServer } from '../../testing/test-server.ts';
import { insertFlux } from '../deployments/testing/test-models.ts';
import { sourceCalls } from '../training/testing/source-calls.ts';
import { step, workloadCalls } from '../training/testing/workload-calls.ts';
import { linkPages } from './testing/link-pages.ts';

/* The links of runs on pictures, and of the LoRAs that they make. */

const WEIGHTS = 'pytorch_lora_weights.safetensors';
const goodPictures: PicturesReport = {
  ...{ pictures_total: 20, pictures_kept: 20, left_out_total: 0, notes: [], held_out: 2, left_out: [] },
  samples: [{ file: 'd.png', caption: 'a secret caption', width: 200, height: 100 }],
  sizes: [{ width: 128, height: 128, count: 20 }],
  ...{ steps_total: 400, tokens_per_step: 768, base_parameters: 8_000_000, trainable_parameters: 400_000 },
  ...{ memory_bytes: 2_000_000_000, gpu_memory_bytes: 2_000_000_000, critical_errors: [] },
};
const STEPS = [0, 100, 400];

const clock = fakeClock();
const { workload } = workloadCalls(clock);

/** Draws before the first step and at two checkpoints, and delivers the LoRA of the last. */
const draws: Script = async (launch) => {
  const { report, put } = workload(launch);
  await report({ type: 'phase', phase: 'training' }, step(0, 400));
  for (const at of STEPS) {
    const folder = `step-${String(at).padStart(8, '0')}`;
    const { path } = await put(`samples/${folder}/1.png`, `picture of ${at}`);
    const adapter = at > 0 ? await put(`checkpoints/${folder}/${WEIGHTS}`, `LoRA of ${at}`) : null;
    await report(step(at, 400), {
      ...{ type: 'samples', step: at, pictures: [{ path, width: 128, height: 96 }] },
      ...(adapter && { adapter: adapter.path }),
    });
  }
  const files = [await put(WEIGHTS, 'LoRA of 400')];
  await report({ type: 'result', files, summary: {} });
  return 0;
};

const driver = createFakeDriver({ capacity: { 'cpu:run': 1 }, script: draws });
const server = await testServer({ clock, driver, readPictures: async () => goodPictures });
const { request } = server;
const { page, tokenOf, fetchOwn, shown } = await linkPages(server);
const ada = await server.signUp('Ada');
const dataset_id = await sourceCalls(server).create(ada, 'RAW', 'Secret drawings', {
  ...{ 'a.png': 'a picture', 'a.txt': 'a secret caption' },
});
const { assetId: model_id } = await insertFlux(server.services, ada, 'My painter');
const { run_id: runId } = await request(
  startDiffusionTraining,
  {
    body: {
      ...{ title: 'Chalk style', dataset_id, model_id, trigger_word: 'zwk', steps: 400, sample_every: 100 },
      sample_prompts: [{ prompt: 'a cat', seed: 7 }],
    },
  },
  { as: ada },
);
await vi.waitFor(
  async () => {
    await server.app.engine.pass();
    expect((await request(getRun, { params: { runId } }, { as: ada })).state).toBe('completed');
  },
  { interval: 20 },
);

const share = async (id: string) =>
  tokenOf((await request(shareModel, { params: { id } }, { as: ada })).share);
/** What is behind each address, by the steps. */
const readAll = async (samples: SharedSamples | null) =>
  Promise.all(
    (samples?.checkpoints ?? []).map(async ({ step: at, pictures }) => [
      at,
      ...(await Promise.all(pictures.map(async ({ url }) => (await fetchOwn(url)).text()))),
    ]),
  );

test('the link of a run shows what each checkpoint has drawn, while it holds', async () => {
  const token = tokenOf((await request(shareRun, { params: { runId } }, { as: ada })).share);
  const seen = await shown('run', token);
  expect(seen).toMatchObject({ trains: 'pictures', made_from: { base_model: null, dataset: null } });
  expect(seen.samples?.prompts).toEqual([{ prompt: 'a cat', seed: 7 }]);
  expect(await readAll(seen.samples)).toEqual(STEPS.map((at) => [at, `picture of ${at}`]));
  const { payload } = await page(token);
  const last = seen.samples?.checkpoints.at(-1)?.pictures[0]?.url ?? '';
  for (const tag of [
    `og:image" content="${new URL(last, server.url).href}"`,
    'og:image:height" content="96"',
    'twitter:card" content="summary_large_image"',
  ])
    expect(payload).toContain(tag);
  expect(JSON.stringify(seen) + payload).not.toMatch(/Secret drawings|a secret caption|My painter/);
  const missing = last.replace('/400/0', '/300/0');
  expect((await fetchOwn(missing)).status).toBe(404);
  await server.send(unshareRun, { params: { runId } }, { as: ada });
  expect((await fetchOwn(last)).status).toBe(404);
});

test('the link of a LoRA shows what it draws beside the base, and of no other checkpoint', async () => {
  const { model_id: result } = await request(getRun, { params: { runId } }, { as: ada });
  const token = await share(result);
  expect(await readAll((await shown('model', token)).samples)).toEqual([
    [0, 'picture of 0'],
    [400, 'picture of 400'],
  ]);
  expect((await page(token)).payload).toContain('og:image');
  const first = { params: { runId, step: '100' } };
  const checkpoint = (await request(makeCheckpointModel, first, { as: ada })).model_id;
  const other = await share(checkpoint);
  const { samples } = await shown('model', other);
  expect((await readAll(samples)).map(([at]) => at)).toEqual([0, 100]);
  const url = samples?.checkpoints[1]?.pictures[0]?.url ?? '';
  expect((await fetchOwn(url)).status).toBe(200);
  expect((await fetchOwn(url.replace('/100/0', '/400/0'))).status).toBe(404);
});

test('behind the link of a model that draws nothing there is no picture', async () => {
  const token = await share(model_id);
  expect((await shown('model', token)).samples).toBeNull();
  expect((await fetchOwn(`/api/v1/shares/${token}/samples/0/0`)).status).toBe(404);
});
