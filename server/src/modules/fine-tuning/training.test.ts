import { getMe } from '@bakehouse/contract/accounts';
import { createAsset, downloadFile, getAsset } from '@bakehouse/contract/assets';
import { listTransactions } from '@bakehouse/contract/credits';
import * as training from '@bakehouse/contract/fine-tuning';
import * as runContract from '@bakehouse/contract/runs';
import { getWork } from '@bakehouse/contract/work';
import { describe, expect, test } from 'vitest';
import { idleUntilStopped } from '../../engine/drivers/fake/fake-driver.ts';
import { collectBlobsJob } from '../assets/jobs/collect-blobs.ts';
import { trainingRoutes } from './routes.ts';
import { goodData } from './testing/test-run.ts';
import { trainingServer } from './testing/training-server.ts';
import { micro, PRICE_MICRO_PER_S, step } from './testing/workload-calls.ts';

const {
  machine,
  clock,
  driver,
  server,
  request,
  user,
  datasetId,
  baseId,
  start,
  runOf,
  notificationsOf,
  balance,
  ended,
  begin,
  workload,
  trainFor,
} = await trainingServer();

describe('a fine-tune', () => {
  test('is quoted, held, trained, turned into a model, and charged for its time', async () => {
    machine.script = trainFor(20);
    const before = await balance();
    const modelId = await start();
    const queued = await runOf(modelId);
    expect(queued).toMatchObject({
      state: 'queued',
      device: 'CPU',
      charged: null,
      quote: { total: queued.held },
    });
    expect((await balance()).held).toBe(queued.held);
    const { steps } = (await request(getMe, {}, { as: user })).onboarding;
    expect(steps).toMatchObject({ create_model: { completed: true }, fine_tune_model: { completed: true } });

    await ended(modelId);
    const run = await runOf(modelId);
    const cost = Math.ceil(20 * PRICE_MICRO_PER_S);
    expect(micro(run.charged)).toBe(cost);
    expect(await notificationsOf(run.run_id)).toEqual(['run_completed']);
    expect(run).toMatchObject({
      state: 'completed',
      progress: 100,
      step: 2,
      steps_total: 2,
      restarts: 0,
      elapsed_seconds: 20,
      summary: { eval_loss: 0.5 },
      held: '0',
      reason: 'Completed.',
    });
    const after = await balance();
    expect(after.held).toBe('0');
    expect(micro(before.balance) - micro(after.balance)).toBe(micro(run.charged));
    const { summary } = await request(listTransactions, { params: { userId: user.userId } }, { as: user });
    expect(summary?.total_cost_fine_tuning).toBe(run.charged);

    // When the run ends, its model card is queued for parsing, because the hub's lists need it.
    const card = await server.services.db
      .selectFrom('asset_files')
      .innerJoin('card_data', 'card_data.sha256', 'asset_files.sha256')
      .select(['path', 'data'])
      .where('asset_id', '=', modelId)
      .execute();
    expect(card).toEqual([{ path: 'README.md', data: null }]);
    const model = await request(getAsset, { params: { id: modelId } }, { as: user });
    expect(model).toMatchObject({
      title: 'my model',
      card: '# My model',
      parent_dataset_id: baseId,
      lineage: { run_id: run.run_id, base_model: { dataset_id: baseId }, dataset: { dataset_id: datasetId } },
    });
    expect(model.files.map(({ path }) => path)).toEqual(['README.md', 'adapter_config.json']);
    const params = { runId: run.run_id };
    expect((await request(runContract.getRunMetrics, { params }, { as: user })).points).toMatchObject([
      { values: { loss: 1.5 } },
    ]);
    const [point] = (await request(runContract.getRunMetrics, { params }, { as: user })).points;
    const pointsAfter = async (instant: string | undefined) =>
      (await request(runContract.getRunMetrics, { params, query: { after: instant } }, { as: user })).points;
    expect(await pointsAfter(point?.at)).toEqual([]);
    expect(await pointsAfter(new Date(Date.parse(point?.at ?? '') - 1).toISOString())).toEqual([point]);
    await expect(pointsAfter('yesterday')).rejects.toMatchObject({ status: 400 });
    expect((await request(runContract.getRunLogs, { params }, { as: user })).lines).toMatchObject([
      { line: 'done' },
    ]);
    expect(await request(runContract.getRun, { params }, { as: user })).toEqual(run);
  });

  test('can read only the inputs in its own spec', async () => {
    const { launch, modelId } = await begin(idleUntilStopped);
    const file = launch.spec.inputs.find(({ name }) => name === 'dataset')?.files[0];
    const { call } = workload(launch);
    const whole = await call('GET', `inputs/${file?.sha256}`);
    expect([whole.status, await whole.text()]).toEqual([200, 'question,answer\na,b\n']);
    const part = await call('GET', `inputs/${file?.sha256}`, undefined, { range: 'bytes=9-' });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
      206,
      'bytes 9-19/20',
      'answer\na,b\n',
    ]);
    expect((await call('GET', `inputs/${'0'.repeat(64)}`)).status).toBe(404);
    const wrong = { 'content-type': 'application/octet-stream', 'x-content-sha256': '0'.repeat(64) };
    expect((await call('PUT', 'artefacts/a', Buffer.from('x'), wrong)).status).toBe(400);
    expect((await call('PUT', 'artefacts/..%2Fa', Buffer.from('x'), wrong)).status).toBe(400);
    await request(runContract.cancelRun, { params: { runId: (await runOf(modelId)).run_id } }, { as: user });
    await ended(modelId);
  });

  test("artefacts are stored until the run's result; a failed run leaves nothing", async () => {
    const { services } = server.app;
    const collect = (now: () => Date) =>
      collectBlobsJob.run({ ...services, clock: { ...clock, now } }, {}, AbortSignal.timeout(10_000));
    const inTwoHours = () => new Date(Math.max(Date.now(), clock.now().getTime()) + 2 * 3600 * 1000);
    const isStored = async (sha256: string) => (await services.blobs.stat(sha256)) !== null;

    const done = await begin(async (one) => {
      const { report, put } = workload(one);
      const files = [await put('README.md', '# Stored two hours before the result')];
      await collect(inTwoHours);
      await report({ type: 'result', files, summary: {} });
      return 0;
    });
    await ended(done.modelId);
    const params = { id: done.modelId, '*': 'README.md' };
    const answer = await server.send(downloadFile, { params, query: {} }, { as: user });
    expect(await answer.text()).toBe('# Stored two hours before the result');

    let lost = '';
    const failed = await begin(async (one) => {
      const { report, put } = workload(one);
      lost = (await put('half.bin', 'half of a model')).sha256;
      await report({ type: 'failed', message: 'The memory is not enough.' });
      return 1;
    });
    await ended(failed.modelId);
    await collect(inTwoHours);
    expect(await isStored(lost)).toBe(true);
    clock.advance({ days: 8 });
    await server.app.engine.pass();
    await collect(inTwoHours);
    expect(await isStored(lost)).toBe(false);
  });

  test('is not charged if it fails', async () => {
    const { modelId, launch } = await begin(async (one) => {
      clock.advance({ seconds: 25 });
      await workload(one).report({ type: 'failed', message: 'The memory is not enough.' });
      return 1;
    });
    await ended(modelId);
    expect(await runOf(modelId)).toMatchObject({
      run_id: launch.workloadId,
      state: 'failed',
      charged: '0',
      held: '0',
      reason: 'The memory is not enough.',
    });
    expect(await notificationsOf(launch.workloadId)).toEqual(['run_failed']);
    expect((await balance()).held).toBe('0');
  });

  test('is not charged if it is cancelled while waiting', async () => {
    const first = await begin(idleUntilStopped);
    const second = await start({ title: 'second' });
    await server.app.engine.pass();
    const waiting = await runOf(second);
    expect(waiting).toMatchObject({
      state: 'queued',
      reason: expect.stringContaining("your 'my model' is using it"),
    });
    for (const modelId of [second, first.modelId]) {
      const { run_id: runId } = await runOf(modelId);
      expect(await request(runContract.cancelRun, { params: { runId } }, { as: user })).toMatchObject({
        state: 'stopping',
      });
    }
    await ended(second);
    await ended(first.modelId);
    expect(await runOf(second)).toMatchObject({
      state: 'cancelled',
      charged: '0',
      reason: 'Cancelled.',
    });
    // A second cancel does nothing and is not recorded.
    await request(runContract.cancelRun, { params: { runId: waiting.run_id } }, { as: user });
    const recorded = await server.services.db
      .selectFrom('audit_log')
      .select('detail')
      .where('action', '=', 'run.cancelled')
      .execute();
    expect(recorded.filter(({ detail }) => JSON.stringify(detail).includes(waiting.run_id))).toHaveLength(1);
  });

  test('continues under the same id after a crash and is charged once', async () => {
    let attempts = 0;
    machine.script = async (launch, process) => {
      attempts += 1;
      if (attempts > 1) return trainFor(10)(launch, process);
      await workload(launch).report(step(1));
      clock.advance({ seconds: 20 });
      await workload(launch).report();
      return 139;
    };
    const modelId = await start();
    const { run_id } = await runOf(modelId);
    await ended(modelId);
    const run = await runOf(modelId);
    expect(run).toMatchObject({ run_id, state: 'completed', restarts: 1, elapsed_seconds: 10 });
    expect(micro(run.charged)).toBe(Math.ceil(10 * PRICE_MICRO_PER_S));
  });
});

test('starting a fine-tune has the same rate limit as validating it, because both read the file', () => {
  const bindings = trainingRoutes({
    capacity: driver.capacity,
    readData: async () => goodData,
    readPictures: () => Promise.reject(new Error('not read')),
    findFluxFault: () => null,
    requireTracker: async () => {},
    usage: { closeIdle: async () => 0 },
    runCpu: async () => ({ cores: 1, memoryBytes: 1e12, slowdown: 1 }),
  });
  const limitOf = (endpoint: object) => bindings.find((one) => one.endpoint === endpoint)?.callsPerMinute;
  expect(limitOf(createAsset)).toBe(60);
  expect(limitOf(training.validateFineTune)).toBe(60);
});

test('work has the runs that are active, or ended within the last hour', async () => {
  const modelId = await start();
  const recent = async () =>
    (await request(getWork, {}, { as: user })).runs.filter((run) => run.model_id === modelId).length;
  expect(await recent()).toBe(1);
  const { run_id: runId } = await runOf(modelId);
  await request(runContract.cancelRun, { params: { runId } }, { as: user });
  await ended(modelId);
  expect(await recent()).toBe(1);
  clock.advance({ seconds: 3601 });
  expect(await recent()).toBe(0);
});
