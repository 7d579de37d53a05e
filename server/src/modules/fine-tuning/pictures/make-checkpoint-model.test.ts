import { assetInfo, deleteAsset, downloadFile, getAsset } from '@bakehouse/contract/assets';
import { getBalance } from '@bakehouse/contract/credits';
import { startDiffusionTraining } from '@bakehouse/contract/diffusion-training';
import { listLoras } from '@bakehouse/contract/loras';
import { cancelRun, getRun, getRunSamples, makeCheckpointModel } from '@bakehouse/contract/runs';
import type { PicturesReport } from '@bakehouse/contract/runtime/validate-pictures-spec';
import { beforeEach, expect, test, vi } from 'vitest';
import { createFakeDriver, idleUntilStopped, type Script } from '../../../engine/drivers/fake/fake-driver.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { insertFlux } from '../../deployments/testing/test-models.ts';
import { sourceCalls } from '../testing/source-calls.ts';
import { step, workloadCalls } from '../testing/workload-calls.ts';
import { deleteOldCheckpointsJob } from './checkpoints.ts';

/* Models made from checkpoints of picture runs. */

const WEIGHTS = 'pytorch_lora_weights.safetensors';
const goodPictures: PicturesReport = {
  ...{ pictures_total: 20, pictures_kept: 20, left_out_total: 0, notes: [], held_out: 2, left_out: [] },
  samples: [{ file: 'd.png', caption: 'zwk, a ball', width: 200, height: 100 }],
  sizes: [{ width: 128, height: 128, count: 20 }],
  ...{ steps_total: 400, tokens_per_step: 768, base_parameters: 8_000_000, trainable_parameters: 400_000 },
  ...{ memory_bytes: 2_000_000_000, gpu_memory_bytes: 2_000_000_000, critical_errors: [] },
};

let script: Script = idleUntilStopped;
const clock = fakeClock();
const driver = createFakeDriver({
  capacity: { 'cpu:run': 2 },
  script: (launch, process) => script(launch, process),
});
const server = await testServer({ clock, driver, readPictures: async () => goodPictures });
const { request } = server;
const { workload } = workloadCalls(clock);
const { create } = sourceCalls(server);

let ada: TestUser;
beforeEach(async () => {
  ada = await server.signUp('Ada');
});

/** Starts a run that draws samples at these steps and then runs the script `end`. */
async function startRun(steps: number[], end: Script): Promise<string> {
  script = async (launch, process) => {
    const { report, put } = workload(launch);
    await report({ type: 'phase', phase: 'training' }, step(0, 400));
    for (const at of [0, ...steps]) {
      const folder = `step-${String(at).padStart(8, '0')}`;
      const picture = await put(`samples/${folder}/1.png`, `picture of ${at}`);
      const adapter =
        at > 0 ? (await put(`checkpoints/${folder}/${WEIGHTS}`, `LoRA of ${at}`)).path : undefined;
      clock.advance({ seconds: 10 });
      await report(step(at, 400), {
        ...{ type: 'samples', step: at, pictures: [{ path: picture.path, width: 128, height: 128 }] },
        ...(adapter !== undefined && { adapter }),
      });
    }
    return end(launch, process);
  };
  const dataset_id = await create(ada, 'RAW', 'Chalk', { 'a.png': 'a picture', 'a.txt': 'a ball' });
  const { assetId: model_id } = await insertFlux(server.services, ada, 'My painter');
  const body = {
    ...{ title: 'Chalk style', dataset_id, model_id, trigger_word: 'zwk', steps: 400, sample_every: 100 },
    sample_prompts: [{ prompt: 'a | cat', seed: 7 }],
  };
  return (await request(startDiffusionTraining, { body }, { as: ada })).run_id;
}

const reach = (runId: string, reached: () => Promise<boolean>) =>
  vi.waitFor(
    async () => {
      await server.app.engine.pass();
      expect(await reached(), runId).toBe(true);
    },
    { interval: 20 },
  );
const stateOf = async (runId: string) => (await request(getRun, { params: { runId } }, { as: ada })).state;
const samplesOf = (runId: string) => request(getRunSamples, { params: { runId } }, { as: ada });
const use = (runId: string, at: number, as = ada) =>
  request(makeCheckpointModel, { params: { runId, step: String(at) } }, { as });
const balance = () => request(getBalance, { params: { userId: ada.userId } }, { as: ada });
const read = async (id: string, path: string) =>
  (await server.send(downloadFile, { params: { id, '*': path }, query: {} }, { as: ada })).text();

async function cancelledRun(steps: number[]): Promise<string> {
  const runId = await startRun(steps, idleUntilStopped);
  await reach(runId, async () => (await samplesOf(runId)).checkpoints.length === steps.length + 1);
  await request(cancelRun, { params: { runId } }, { as: ada });
  await reach(runId, async () => (await stateOf(runId)) === 'cancelled');
  return runId;
}

test('a checkpoint of a cancelled run becomes one model, at no cost, and only for its owner', async () => {
  const runId = await cancelledRun([100, 200]);
  const before = await balance();
  const [one, other] = await Promise.all([use(runId, 100), use(runId, 100)]);
  expect(one).toEqual(other);
  expect(await use(runId, 100)).toEqual(one);
  expect(await balance()).toEqual(before);

  const { loras } = await request(listLoras, { params: { userId: ada.userId }, query: {} }, { as: ada });
  expect(loras).toMatchObject([{ id: one.model_id, title: 'Chalk style, step 100' }]);
  const { files } = await request(assetInfo, { params: { id: one.model_id }, query: {} }, { as: ada });
  expect(files.map(({ path }) => path).sort()).toEqual([
    'README.md',
    WEIGHTS,
    'samples/after/1.png',
    'samples/before/1.png',
  ]);
  expect((await samplesOf(runId)).checkpoints).toMatchObject([
    { step: 0, is_kept: false, model_id: null },
    { step: 100, is_kept: true, model_id: one.model_id },
    { step: 200, is_kept: true, model_id: null },
  ]);

  const audited = await server.services.db
    .selectFrom('audit_log')
    .select('detail')
    .where('action', '=', 'asset.created')
    .where('user_id', '=', ada.userId)
    .execute();
  expect(audited.filter(({ detail }) => JSON.stringify(detail).includes(one.model_id))).toHaveLength(1);
  const bob = await server.signUp('Bob');
  await expect(use(runId, 200, bob)).rejects.toMatchObject({ status: 404 });
  await expect(use(runId, 300)).rejects.toThrow('The run has no checkpoint of step 300');

  // After the model is deleted, it can be made again.
  await request(deleteAsset, { params: { id: one.model_id } }, { as: ada });
  expect((await samplesOf(runId)).checkpoints[1]).toMatchObject({ is_kept: true, model_id: null });
  expect(await use(runId, 100)).not.toEqual(one);
});

test("a failed run has checkpoints too; the last checkpoint of a completed run is the run's own model", async () => {
  const failed = await startRun([100], async (launch) => {
    await workload(launch).report({ type: 'failed', message: 'Out of memory.' });
    return 1;
  });
  await reach(failed, async () => (await stateOf(failed)) === 'failed');
  const { model_id } = await use(failed, 100);
  expect(await read(model_id, WEIGHTS)).toBe('LoRA of 100');
  const card = await read(model_id, 'README.md');
  expect(card).toContain('A LoRA adapter of rank 16 for a private model, after step 100 of its training');
  expect(card).toContain(String.raw`| a \| cat | 7 | ![before](samples/before/1.png)`);
  expect(await request(getAsset, { params: { id: model_id } }, { as: ada })).toMatchObject({
    title: 'Chalk style, step 100',
    dataset_type: 'MODEL',
  });

  const completed = await startRun([200, 400], async (launch) => {
    const { report, put } = workload(launch);
    const files = [await put(WEIGHTS, 'LoRA of 400')];
    await report(step(400, 400), { type: 'result', files, summary: {} });
    return 0;
  });
  await reach(completed, async () => (await stateOf(completed)) === 'completed');
  const run = await request(getRun, { params: { runId: completed } }, { as: ada });
  expect((await use(completed, 400)).model_id).toBe(run.model_id);
  expect((await use(completed, 200)).model_id).not.toBe(run.model_id);
  expect((await samplesOf(completed)).checkpoints.at(-1)?.model_id).toBe(run.model_id);
});

test('stores the last twenty checkpoints until a week after the end; models made from them are kept', async () => {
  const steps = Array.from({ length: 21 }, (_, index) => index + 1);
  const runId = await cancelledRun(steps);
  const gone = /no longer stored/;
  await expect(use(runId, 1)).rejects.toThrow(gone);
  const { model_id } = await use(runId, 21);

  await deleteOldCheckpointsJob.run(server.services, {}, AbortSignal.timeout(60_000));
  expect((await samplesOf(runId)).checkpoints.filter(({ is_kept }) => is_kept)).toHaveLength(20);
  clock.advance({ days: 8 });
  await deleteOldCheckpointsJob.run(server.services, {}, AbortSignal.timeout(60_000));
  expect((await samplesOf(runId)).checkpoints.filter(({ is_kept }) => is_kept)).toEqual([]);
  await expect(use(runId, 20)).rejects.toMatchObject({ status: 409 });
  expect(await use(runId, 21)).toEqual({ model_id });
  expect(await read(model_id, WEIGHTS)).toBe('LoRA of 21');
});
