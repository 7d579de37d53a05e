import { getModelReadiness } from '@bakehouse/contract/assets';
import { getBalance } from '@bakehouse/contract/credits';
import { startDiffusionTraining, validateDiffusionTraining } from '@bakehouse/contract/diffusion-training';
import { listLoras } from '@bakehouse/contract/loras';
import { getRun, getRunSamples, listRuns, runStats } from '@bakehouse/contract/runs';
import type { PicturesReport } from '@bakehouse/contract/runtime/validate-pictures-spec';
import { beforeEach, expect, test, vi } from 'vitest';
import { createFakeDriver, idleUntilStopped, type Script } from '../../../engine/drivers/fake/fake-driver.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { insertFlux } from '../../deployments/testing/test-models.ts';
import { sourceCalls } from '../testing/source-calls.ts';
import { step, workloadCalls } from '../testing/workload-calls.ts';
import type { PicturesToRead } from './read-pictures.ts';

/* Tests the training of a picture LoRA, from reading its dataset to the samples of its checkpoints. */

const goodPictures: PicturesReport = {
  ...{ pictures_total: 20, pictures_kept: 17, left_out_total: 3, notes: [], held_out: 2 },
  left_out: ['a', 'b', 'c'].map((name) => ({
    file: `${name}.png`,
    message: `${name}.png is not a picture that can be read.`,
  })),
  samples: [{ file: 'd.png', caption: 'zwk, a ball', width: 200, height: 100 }],
  sizes: [{ width: 128, height: 128, count: 17 }],
  ...{ steps_total: 400, tokens_per_step: 768, base_parameters: 8_000_000, trainable_parameters: 400_000 },
  ...{ memory_bytes: 2_000_000_000, gpu_memory_bytes: 2_000_000_000, critical_errors: [] },
};

let report = goodPictures;
let asked: PicturesToRead | undefined;
let script: Script = idleUntilStopped;
const clock = fakeClock();
const driver = createFakeDriver({
  capacity: { 'cpu:run': 2 },
  script: (launch, process) => script(launch, process),
});
const server = await testServer({
  clock,
  driver,
  readPictures: async (_ctx, input) => {
    asked = input;
    return report;
  },
});
const { request } = server;
const { workload } = workloadCalls(clock);
const { create } = sourceCalls(server);

let ada: TestUser;
let choice: { dataset_id: string; model_id: string };
beforeEach(async () => {
  report = goodPictures;
  script = idleUntilStopped;
  ada = await server.signUp('Ada');
  choice = {
    dataset_id: await create(ada, 'RAW', 'Chalk', { 'a.png': 'a picture', 'a.txt': 'a ball' }),
    model_id: (await insertFlux(server.services, ada, 'My painter')).assetId,
  };
});

const PROMPTS = [{ prompt: 'zwk, a cat', seed: 7 }];
const fields = { trigger_word: 'zwk', sample_prompts: PROMPTS, steps: 400, sample_every: 100 };
const validate = (more: object = {}, as = ada) =>
  request(validateDiffusionTraining, { body: { ...choice, ...fields, ...more } }, { as });
const start = (more: object = {}, options: { key?: string } = {}) =>
  request(
    startDiffusionTraining,
    { body: { title: 'Chalk style', ...choice, ...fields, ...more } },
    { as: ada, idempotencyKey: options.key },
  );
const balance = () => request(getBalance, { params: { userId: ada.userId } }, { as: ada });
const refused = (param: string, message: string | RegExp) => ({
  status: 400,
  body: { error: { param, message: expect.stringMatching(message) } },
});

test('validation reads all files of the dataset for free, and lists the pictures that are left out', async () => {
  const before = await balance();
  const { critical_errors, warnings, data, cost_estimate, placement, file_name } = await validate();
  expect(critical_errors).toEqual([]);
  expect(warnings).toEqual(['3 of 20 pictures are left out. Each is named below with its reason.']);
  expect(data?.left_out[0]).toEqual({ file: 'a.png', message: 'a.png is not a picture that can be read.' });
  expect(Number(cost_estimate.quote.total)).toBeGreaterThan(0);
  expect([placement.device, file_name]).toEqual(['cpu', null]);
  expect(asked?.files.map(({ path }) => path)).toEqual(['a.png', 'a.txt']);
  expect(asked?.base.some(({ path }) => path.endsWith('.safetensors'))).toBe(false);
  expect(asked?.spec.weights_bytes.transformer).toBeGreaterThan(0);
  expect(asked?.spec.data).toEqual({ metadata_path: null, trigger_word: 'zwk', seed: 42 });
  expect(await balance()).toEqual(before);
});

test('uses a metadata.jsonl if present and refuses untrainable choices by name', async () => {
  const dataset_id = await create(ada, 'RAW', 'Listed', { 'metadata.jsonl': '{}', 'a.png': 'a' });
  expect((await validate({ dataset_id })).file_name).toBe('metadata.jsonl');
  expect((await validate({ dataset_id, file_name: null })).file_name).toBeNull();
  await expect(start({ file_name: 'captions.jsonl' })).rejects.toMatchObject(
    refused('file_name', 'Chalk has no file captions.jsonl'),
  );
  await expect(start({ dataset_id: choice.model_id })).rejects.toMatchObject(
    refused('dataset_id', 'My painter is a model: choose a dataset'),
  );
  await expect(start({ model_id: choice.dataset_id })).rejects.toMatchObject(
    refused('model_id', 'Chalk is a dataset: choose a model as base'),
  );
  await expect(start({ sample_every: 401 })).rejects.toMatchObject(
    refused('sample_every', 'Steps between samples must be at most 400'),
  );
  await expect(start({ trigger_word: 'a`b' })).rejects.toMatchObject(
    refused('trigger_word', 'Trigger word can have letters, digits, spaces, - and _'),
  );
  report = { ...goodPictures, critical_errors: ['The dataset has too few pictures.'] };
  await expect(start()).rejects.toThrow(/too few pictures/);
  expect((await request(listRuns, { query: {} }, { as: ada })).runs).toEqual([]);
  const bob = await server.signUp('Bob');
  await expect(validate({}, bob)).rejects.toMatchObject({ status: 404 });
});

test('a run draws samples at its checkpoints and produces a LoRA that generations can use', async () => {
  script = async (launch) => {
    const { report: say, put } = workload(launch);
    await put('samples/step-00000000/1.png', 'before');
    await say(
      { type: 'phase', phase: 'training' },
      {
        type: 'samples',
        step: 0,
        pictures: [{ path: 'samples/step-00000000/1.png', width: 128, height: 128 }],
      },
      step(0, 400),
    );
    clock.advance({ seconds: 20 });
    await put('samples/step-00000400/1.png', 'after');
    const pictures = [{ path: 'samples/step-00000400/1.png', width: 128, height: 128 }];
    // The runtime repeats the report after a restart; it must count once.
    await say({ type: 'samples', step: 400, pictures }, { type: 'samples', step: 400, pictures });
    const files = [
      await put('pytorch_lora_weights.safetensors', 'weights'),
      await put('README.md', '# Chalk'),
    ];
    await say(step(400, 400), { type: 'result', files, summary: { eval_loss: 0.2 } });
    return 0;
  };
  const { run_id, model_id } = await start({}, { key: 'one' });
  expect(await start({}, { key: 'one' })).toEqual({ run_id, model_id });
  expect(await auditOf('run.started')).toEqual([{ detail: { run_id, model_id } }]);
  const params = { runId: run_id };
  await vi.waitFor(
    async () => {
      await server.app.engine.pass();
      expect((await request(getRun, { params }, { as: ada })).state).toBe('completed');
    },
    { interval: 20 },
  );
  const run = await request(getRun, { params }, { as: ada });
  expect(run).toMatchObject({
    kind: 'pictures',
    dataset: { title: 'Chalk', file_name: null },
    parameters: { trigger_word: 'zwk', steps: 400, lora_r: 16, sample_prompts: PROMPTS },
  });
  expect(Number(run.charged)).toBeGreaterThan(0);

  const drawn = await request(getRunSamples, { params }, { as: ada });
  expect(drawn.prompts).toEqual(PROMPTS);
  expect(drawn.checkpoints.map(({ step: at }) => at)).toEqual([0, 400]);
  const texts = await Promise.all(
    drawn.checkpoints.map(async ({ pictures: [one] }) =>
      (await fetch(new URL(one?.url ?? '', server.url))).text(),
    ),
  );
  expect(texts).toEqual(['before', 'after']);
  const bob = await server.signUp('Bob');
  await expect(request(getRunSamples, { params }, { as: bob })).rejects.toMatchObject({ status: 404 });

  const { loras } = await request(listLoras, { params: { userId: ada.userId }, query: {} }, { as: ada });
  expect(loras.map(({ id }) => id)).toEqual([model_id]);
  const readiness = await request(getModelReadiness, { params: { id: model_id } }, { as: ada });
  expect(readiness.lora).toBe(true);
  const runsOf = async (kind: 'text' | 'pictures') =>
    (await request(listRuns, { query: { kind } }, { as: ada })).runs.map((one) => one.run_id);
  expect([await runsOf('text'), await runsOf('pictures')]).toEqual([[], [run_id]]);
  expect((await request(runStats, { query: { kind: 'pictures' } }, { as: ada })).completed).toBe(1);
  expect((await request(runStats, { query: { kind: 'text' } }, { as: ada })).completed).toBe(0);
});

test("the runtime receives the prompts, the trigger word and Diffusers' target layers", async () => {
  const begun = Promise.withResolvers<unknown>();
  script = async (launch, process) => {
    begun.resolve(launch.spec);
    return idleUntilStopped(launch, process);
  };
  await start({ gradient_accumulation_steps: 2 });
  await server.app.engine.pass();
  expect(await begun.promise).toMatchObject({
    ...{ method: 'flux', title: 'Chalk style', dataset_title: 'a private dataset' },
    data: { metadata_path: null, trigger_word: 'zwk', seed: 42 },
    parameters: { steps: 400, checkpoint_every: 100, gradient_accumulation_steps: 2, resolution: null },
    lora: { r: 16, alpha: 16, dropout: 0, target_modules: expect.arrayContaining(['attn.to_q', 'proj_mlp']) },
    sample_prompts: PROMPTS,
  });
});

const auditOf = (action: string) =>
  server.services.db
    .selectFrom('audit_log')
    .select('detail')
    .where('action', '=', action)
    .where('user_id', '=', ada.userId)
    .execute();
