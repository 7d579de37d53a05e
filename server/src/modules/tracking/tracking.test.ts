import { cancelRun } from '@bakehouse/contract/runs';
import { deleteTracker, listTrackedRuns, listTrackers, saveTracker } from '@bakehouse/contract/trackers';
import { sql } from 'kysely';
import OpenAI, { toFile } from 'openai';
import { describe, expect, test, vi } from 'vitest';
import { idleUntilStopped } from '../../engine/drivers/fake/fake-driver.ts';
import { trainingServer } from '../fine-tuning/testing/training-server.ts';
import { step } from '../fine-tuning/testing/workload-calls.ts';
import { mlflowServer } from './testing/mlflow-server.ts';
import { wandbServer } from './testing/wandb-server.ts';
import { logRunsJob } from './tracked-runs.ts';

const { clock, machine, server, request, begin, workload, runOf, ended, user: as } = await trainingServer();
const [wandb, mlflow] = [await wandbServer(), await mlflowServer()];
const { config } = server.services;
Object.assign(config, { wandbUrl: wandb.url, trackingHosts: ['127.0.0.1'] });

const toWandb = { project: 'loaves', api_key: wandb.key };
const toMlflow = { project: 'loaves', url: `${mlflow.url}/`, api_key: 'mlflow-token-of-ada' };
const save = (service: 'wandb' | 'mlflow', body: object) =>
  request(saveTracker, { params: { service }, body: body as typeof toWandb }, { as });
const trackers = async () => (await request(listTrackers, {}, { as })).trackers;
const logRuns = () => logRunsJob.run(server.services, {}, new AbortController().signal);
const trackedOf = async (runId: string) =>
  (await request(listTrackedRuns, { params: { runId } }, { as })).trackers;

/** Starts a run. The test reports its metrics and decides when it ends. */
async function startRun(title: string) {
  const end = Promise.withResolvers<number>();
  const { modelId, launch } = await begin(() => end.promise, { title });
  const { run_id: runId } = await runOf(modelId);
  return {
    runId,
    modelId,
    measure: async (...points: [number, Record<string, number>][]) => {
      for (const [at, values] of points) await workload(launch).report({ type: 'metrics', step: at, values });
    },
    complete: async () => {
      const { put, report } = workload(launch);
      const files = [await put('adapter_config.json', '{"r":8}')];
      await report(step(2), { type: 'result', files, summary: { eval_loss: 0.5 } });
      end.resolve(0);
      await ended(modelId);
    },
    fail: async () => {
      await workload(launch).report({ type: 'failed', message: 'The memory is not enough.' });
      end.resolve(1);
      await ended(modelId);
    },
  };
}

describe('a tracker', () => {
  test('is connected once its service accepts the key, which is never shown', async () => {
    expect(await trackers()).toEqual([]);
    await expect(save('wandb', { project: 'loaves', api_key: 'wrong' })).rejects.toThrow(
      'Weights & Biases does not accept this API key',
    );
    await expect(save('wandb', { project: 'loaves' })).rejects.toThrow('api_key is required');
    await expect(save('wandb', { ...toWandb, url: 'https://example.com' })).rejects.toThrow(
      'url must be left out for Weights & Biases',
    );
    await expect(save('mlflow', { project: 'loaves' })).rejects.toThrow('url is required');
    await expect(save('mlflow', { project: 'loaves', url: 'http://localhost:1' })).rejects.toThrow(
      'localhost:1 is not a public address. Ask the operator of this server to allow it',
    );
    await expect(save('mlflow', { project: 'loaves', url: wandb.url })).rejects.toThrow();
    await expect(save('mlflow', { ...toMlflow, project: 'a/b' })).rejects.toThrow('project must not contain');
    expect(await trackers()).toEqual([]);

    expect(await save('wandb', toWandb)).toMatchObject({ project: 'loaves', account: 'ada', trouble: null });
    expect(await save('mlflow', toMlflow)).toMatchObject({ url: mlflow.url, account: null });
    expect(JSON.stringify(await trackers())).not.toMatch(/key-of|token-of/);
    // Without a key in the call, the saved key is used, but only for the same address.
    await save('mlflow', { project: 'loaves', url: mlflow.url });
    await expect(save('mlflow', { project: 'loaves', url: 'http://127.0.0.1:1' })).rejects.toThrow(
      '127.0.0.1:1 could not be reached',
    );
  });

  test("receives a run's metrics during training, and its end", async () => {
    const run = await startRun('Rye bread');
    const awaited = ['wandb', 'mlflow'].map((service) => ({ service, url: null, trouble: null }));
    expect(await trackedOf(run.runId)).toEqual(awaited);
    await logRuns();
    // The run has no points yet, so it is not created at the service.
    expect([Object.keys(wandb.runs), mlflow.runs]).toEqual([[], []]);
    await run.measure([1, { loss: 2 }], [2, { loss: 1.5 }], [2, { eval_loss: 1.7 }], [3, { loss: 1 }]);
    await logRuns();
    const there = wandb.runs[`loaves/${run.runId}`];
    // The point of step 3 is not logged yet, because its evaluation may follow.
    expect(there?.history).toEqual([
      { 'train/loss': 2, _step: 1, _timestamp: clock.now().getTime() / 1000 },
      { 'train/loss': 1.5, 'eval/loss': 1.7, _step: 2, _timestamp: clock.now().getTime() / 1000 },
    ]);
    expect(there).toMatchObject({
      displayName: 'Rye bread',
      summary: { 'train/loss': 1.5, 'eval/loss': 1.7 },
      exitcode: null,
    });
    expect(there?.config).toMatchObject({
      epochs: { value: 1 },
      learning_rate: { value: expect.any(Number) },
      lora_target_modules: { value: expect.stringMatching(/^\["/) },
    });
    await run.complete();
    await logRuns();
    await logRuns();
    expect(there?.history.map((line) => line['train/loss'])).toEqual([2, 1.5, 1]);
    expect(wandb.runs[`loaves/${run.runId}`]?.exitcode).toBe(0);
    const [inMlflow, ...others] = mlflow.runs;
    expect(others).toEqual([]);
    expect(inMlflow).toMatchObject({ name: 'Rye bread', status: 'FINISHED', params: { epochs: '1' } });
    expect(inMlflow?.metrics.map(({ key, value, step: at }) => [at, key, value])).toEqual([
      [1, 'train/loss', 2],
      [2, 'train/loss', 1.5],
      [2, 'eval/loss', 1.7],
      [3, 'train/loss', 1],
    ]);
    expect(await trackedOf(run.runId)).toEqual([
      { service: 'wandb', url: `${wandb.url}/bakery/loaves/runs/${run.runId}`, trouble: null },
      { service: 'mlflow', url: `${mlflow.url}/#/experiments/1/runs/m1`, trouble: null },
    ]);
  });

  test('stores each point once even if an answer is lost', async () => {
    const run = await startRun('Lost');
    await run.measure([1, { loss: 2 }], [2, { loss: 1 }]);
    mlflow.losesAnswer = true;
    wandb.losesAnswer = true;
    await logRuns();
    expect((await trackers()).map(({ trouble }) => trouble)).toEqual([
      'Weights & Biases answered with status 502. Trying again every minute',
      expect.stringMatching(/answered with status 503. Trying again every minute$/),
    ]);
    for (const part of [
      [3, { loss: 0.5 }],
      [4, { loss: 0.25 }],
    ] as [number, { loss: number }][]) {
      await run.measure(part);
      await logRuns();
      [mlflow.losesAnswer, wandb.losesAnswer] = [true, true];
      await logRuns();
      [mlflow.losesAnswer, wandb.losesAnswer] = [false, false];
    }
    await run.fail();
    await logRuns();
    const { history, exitcode } = wandb.runs[`loaves/${run.runId}`] ?? {};
    expect(history?.map((line) => line['train/loss'])).toEqual([2, 1, 0.5, 0.25]);
    expect(exitcode).toBe(1);
    const inMlflow = mlflow.runs.filter(({ name }) => name === 'Lost');
    expect(inMlflow.map(({ status, metrics }) => [status, metrics.map(({ value }) => value)])).toEqual([
      ['FAILED', [2, 1, 0.5, 0.25]],
    ]);
    expect((await trackers()).map(({ trouble }) => trouble)).toEqual([null, null]);
  });

  test('is not called after it refuses the key, until another key is saved; the run continues', async () => {
    const run = await startRun('Bad key');
    await run.measure([1, { loss: 2 }], [2, { loss: 1 }], [3, { loss: 0.5 }]);
    wandb.key = 'another';
    await logRuns();
    const said = 'Weights & Biases does not accept this API key. Save another one to go on';
    expect((await trackers())[0]?.trouble).toBe(said);
    expect((await trackedOf(run.runId))[0]).toMatchObject({ service: 'wandb', trouble: said });
    wandb.key = toWandb.api_key;
    await logRuns();
    expect(wandb.runs[`loaves/${run.runId}`]).toBeUndefined();
    await save('wandb', toWandb);
    await run.complete();
    await logRuns();
    expect(wandb.runs[`loaves/${run.runId}`]?.history).toHaveLength(3);
    expect((await runOf(run.modelId)).state).toBe('completed');
  });

  test('reports that its key cannot be decrypted, and accepts another key', async () => {
    const run = await startRun('Other secret');
    await run.measure([1, { loss: 2 }], [2, { loss: 1 }]);
    const { db } = server.services;
    await db
      .updateTable('trackers')
      .set({ encrypted: Buffer.alloc(40) })
      .where('service', '=', 'wandb')
      .execute();
    await logRuns();
    const said = 'The saved API key can no longer be read';
    expect((await trackers())[0]?.trouble).toBe(`${said}. Save another one to go on`);
    await expect(save('wandb', { project: 'loaves' })).rejects.toThrow(said);
    await save('wandb', toWandb);
    await run.complete();
    await logRuns();
    expect(wandb.runs[`loaves/${run.runId}`]?.history).toHaveLength(2);
  });

  test('is not blamed for an internal error of this server, which is retried', async () => {
    const run = await startRun('Our fault');
    await run.measure([1, { loss: 2 }], [2, { loss: 1 }]);
    const { db } = server.services;
    const write = vi.spyOn(server.services.log, 'error').mockReturnValue();
    await logRuns();
    await run.measure([3, { loss: 0.5 }]);
    await sql`alter table tracked_runs add constraint broken check (step_sent < 2) not valid`.execute(db);
    await logRuns();
    expect(write).toHaveBeenCalledTimes(2);
    expect((await trackers()).map(({ trouble }) => trouble)).toEqual([null, null]);
    await sql`alter table tracked_runs drop constraint broken`.execute(db);
    write.mockRestore();
    await run.complete();
    await logRuns();
    expect(wandb.runs[`loaves/${run.runId}`]?.history).toHaveLength(3);
  });

  test('receives nothing more of a run that it refuses, but receives the other runs', async () => {
    const first = await startRun('Deleted there');
    await first.measure([1, { loss: 2 }], [2, { loss: 1 }]);
    await logRuns();
    delete wandb.runs[`loaves/${first.runId}`];
    await first.complete();
    await logRuns();
    expect((await trackedOf(first.runId))[0]).toMatchObject({
      trouble: 'Weights & Biases no longer has this run',
    });
    expect((await trackers())[0]?.trouble).toBeNull();
  });

  test("receives a job in the project of the job's integration, and the job returns that integration", async () => {
    await save('wandb', toWandb);
    const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: as.apiKey, maxRetries: 0 });
    const row = '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}\n';
    const file = await toFile(Buffer.from(row), 'rows.jsonl');
    const { id: training_file } = await openai.files.create({ file, purpose: 'fine-tune' });
    machine.script = async (launch) => {
      await workload(launch).report(
        { type: 'metrics', step: 1, values: { loss: 2 } },
        { type: 'metrics', step: 2, values: { loss: 1 } },
      );
      return 1;
    };
    const create = async (asked: object) => {
      const integrations = [{ type: 'wandb' as const, wandb: { project: 'rolls', ...asked } }];
      const job = await openai.fineTuning.jobs.create({ model: 'tiny base', training_file, integrations });
      const { run_id: runId, model_id: modelId } = job as unknown as { run_id: string; model_id: string };
      await ended(modelId);
      await logRuns();
      return { job, runId, integrations };
    };
    const named = await create({ entity: 'millers', name: 'First rolls', tags: ['north', 'bakehouse'] });
    expect(named.job.integrations).toEqual(named.integrations);
    expect((await openai.fineTuning.jobs.retrieve(named.job.id)).integrations).toEqual(named.integrations);
    expect(wandb.runs[`rolls/${named.runId}`]).toMatchObject({
      ...{ displayName: 'First rolls', entity: 'millers', tags: ['bakehouse', 'north'] },
      history: [{ 'train/loss': 2 }, { 'train/loss': 1 }],
    });
    const plain = await create({});
    expect(wandb.runs[`rolls/${plain.runId}`]).toMatchObject({ displayName: plain.job.id, entity: 'bakery' });
    // The job names a team without access. The tracker's key itself is valid.
    const closed = await create({ entity: 'strangers' });
    expect((await trackedOf(closed.runId))[0]?.trouble).toContain('refused the run');
    expect((await trackers())[0]?.trouble).toBeNull();
    wandb.error = { message: 'project is archived', extensions: { code: 'PERMISSION_ERROR' } };
    const archived = await create({});
    expect((await trackedOf(archived.runId))[0]?.trouble).toBe(
      'Weights & Biases refused the run: project is archived',
    );
    expect((await trackers())[0]?.trouble).toBeNull();
    wandb.error = { message: 'user is not logged in' };
    await create({});
    expect((await trackers())[0]?.trouble).toContain('does not accept this API key. Save another one');
    await expect(create({})).rejects.toMatchObject({
      ...{ status: 400, param: 'integrations' },
      message: expect.stringContaining('does not accept the API key that is saved here'),
    });
    wandb.error = null;
    await save('wandb', toWandb);
  });

  test('receives nothing after it is disconnected, and no runs that started before it was connected', async () => {
    await request(deleteTracker, { params: { service: 'wandb' } }, { as });
    await expect(request(deleteTracker, { params: { service: 'wandb' } }, { as })).rejects.toThrow(
      'Weights & Biases is not connected',
    );
    const run = await startRun('Before');
    await run.measure([1, { loss: 2 }], [2, { loss: 1 }]);
    clock.advance({ seconds: 1 });
    await save('wandb', toWandb);
    await run.complete();
    await logRuns();
    expect(wandb.runs[`loaves/${run.runId}`]).toBeUndefined();
    expect(mlflow.runs.find(({ name }) => name === 'Before')?.status).toBe('FINISHED');
  });

  test('gets a cancelled run as killed', async () => {
    const { modelId, launch } = await begin(idleUntilStopped, { title: 'Cancelled' });
    const { run_id: runId } = await runOf(modelId);
    await workload(launch).report({ type: 'metrics', step: 1, values: { loss: 2 } });
    await request(cancelRun, { params: { runId } }, { as });
    await ended(modelId);
    await logRuns();
    expect(wandb.runs[`loaves/${runId}`]?.exitcode).toBe(255);
    expect(mlflow.runs.find(({ name }) => name === 'Cancelled')?.status).toBe('KILLED');
  });
});

test("other users cannot see a run's trackers", async () => {
  const bob = await server.signUp('Bob');
  const run = await startRun('Private');
  await run.complete();
  await expect(request(listTrackedRuns, { params: { runId: run.runId } }, { as: bob })).rejects.toThrow(
    'Run not found',
  );
  expect((await request(listTrackers, {}, { as: bob })).trackers).toEqual([]);
});
