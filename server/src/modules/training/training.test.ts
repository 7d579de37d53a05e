import { createHash, randomUUID } from 'node:crypto';
import { createApiKey } from '@bakehouse/contract/api-keys';
import { createAsset, deleteAsset, downloadFile, getAsset, listAssets } from '@bakehouse/contract/assets';
import { getBalance, listTransactions } from '@bakehouse/contract/credits';
import { MICRO_PER_BGL, parseBgl } from '@bakehouse/contract/money';
import { listNotifications } from '@bakehouse/contract/notifications';
import type { Report } from '@bakehouse/contract/runtime/report';
import * as training from '@bakehouse/contract/training';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Launch } from '../../engine/drivers/driver.ts';
import {
  createFakeDriver,
  type FakeProcess,
  idleUntilStopped,
  type Script,
} from '../../engine/drivers/fake/fake-driver.ts';
import { idleCpu } from '../../engine/machine/cpu-load.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { collectBlobsJob } from '../assets/jobs/collect-blobs.ts';
import { revenueAccount, userAccount } from '../credits/ledger/accounts.ts';
import { expireHolds } from '../credits/ledger/holds/expire-holds.ts';
import { transfer } from '../credits/ledger/transfer.ts';
import { trainingRoutes } from './routes.ts';
import { emptyGguf, emptySafetensors, goodData } from './test-run.ts';
import { estimateLoad } from './validation/estimate-load.ts';

type Unnumbered = Report extends infer R ? (R extends Report ? Omit<R, 'seq' | 'at'> : never) : never;

const PRICE_MICRO_PER_S = Number((25n * MICRO_PER_BGL) / 10n) / 3600;

let script: Script = idleUntilStopped;
let read = goodData;
let busyThreads = 0;
/** The machine is so busy, and says so. */
async function beBusy(threads: number): Promise<void> {
  busyThreads = threads;
  await app.engine.pass();
}
let readSignal: AbortSignal | undefined;
const clock = fakeClock();
const driver = createFakeDriver({
  capacity: { 'cpu:run': 1, 'cpu:deployment': 1 },
  script: (launch, process) => script(launch, process),
});
let meanwhile = async () => {};
const server = await testServer({
  clock,
  driver,
  cpuLoad: () => ({ busyThreads, cores: 2, runThreads: 2 }),
  // Between the first look at the sources and the transaction that starts.
  readData: async (_ctx, _input, options) => {
    readSignal = options?.signal;
    await meanwhile();
    return read;
  },
});
const { request, app } = server;

let user: TestUser;
let datasetId: string;
let baseId: string;
beforeAll(async () => {
  user = await server.signUp('Ada');
  ({ asset_id: datasetId, base_model: baseId } = await filesOf(user));
});

async function create(
  as: TestUser,
  type: 'RAW' | 'MODEL',
  title: string,
  files: Record<string, string | Buffer>,
) {
  const id = await request(createAsset, { body: { dataset_type: type, title, user_id: as.userId } }, { as });
  for (const [name, bytes] of Object.entries(files)) {
    const body = new FormData();
    body.set('data_file', new Blob([new Uint8Array(Buffer.from(bytes))]), name);
    const answer = await fetch(`${server.url}/api/v1/asset/${id}/upload`, {
      method: 'POST',
      headers: { 'x-api-key': as.apiKey },
      body,
    });
    expect(answer.status, await answer.text()).toBe(200);
  }
  return id;
}

/** A dataset and a base model of the user's own. */
async function filesOf(owner: TestUser) {
  return {
    asset_id: await create(owner, 'RAW', 'rows', { 'rows.csv': 'question,answer\na,b\n' }),
    base_model: await create(owner, 'MODEL', 'tiny base', {
      'config.json': '{}',
      'model.safetensors': emptySafetensors(),
    }),
  };
}

type Payload = NonNullable<
  NonNullable<Parameters<typeof request<typeof createAsset>>[1]['body']>['fine_tune_payload']
>;

function start(options: { as?: TestUser; payload?: Partial<Payload>; key?: string; title?: string } = {}) {
  const { as = user, payload, key, title = 'my model' } = options;
  return request(
    createAsset,
    {
      body: {
        dataset_type: 'MODEL',
        title,
        user_id: as.userId,
        fine_tune_payload: {
          asset_id: datasetId,
          base_model: baseId,
          model_name: title,
          file_name: 'rows.csv',
          user_id: as.userId,
          input_column: 'question',
          output_column: 'answer',
          ...payload,
        },
      },
    },
    { as, idempotencyKey: key },
  );
}

async function runOf(modelId: string, as = user) {
  const { runs } = await request(training.listRuns, { query: { model_id: modelId } }, { as });
  const [run] = runs;
  if (!run || runs.length !== 1) throw new Error(`${runs.length} runs of ${modelId}`);
  return run;
}
/** Kinds of what the owner was notified of, about this run. */
async function toldOf(runId: string, as = user) {
  const told = await request(listNotifications, { params: { userId: as.userId } }, { as });
  return told.filter(({ link }) => link === `/runs/${runId}`).map(({ kind }) => kind);
}
const balance = async (as = user) => request(getBalance, { params: { userId: as.userId } }, { as });
/** So much time passes that all holds end. */
async function expire() {
  clock.advance({ seconds: 31 * 24 * 3600 });
  await server.services.db.transaction().execute((tx) => expireHolds(tx, { now: clock.now(), limit: 100 }));
}
/** Pays for something else. */
async function spend(as: TestUser, amountMicro: bigint) {
  await server.services.db.transaction().execute((tx) =>
    transfer(tx, {
      debitAccountId: userAccount(as.userId),
      creditAccountId: revenueAccount('deployment'),
      amountMicro,
      kind: 'charge',
      description: 'Deployment',
      idempotencyKey: null,
    }),
  );
}
const micro = (amount: string | null) => Number(parseBgl(amount ?? '0'));

/** Calls the server as the runtime does. */
function workload({ workloadId, server: { base_url, token } }: Launch) {
  const call = (method: string, path: string, body?: string | Buffer, headers?: Record<string, string>) =>
    fetch(`${base_url}/runtime/v1/workloads/${workloadId}/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      body: typeof body === 'string' ? body : body && new Uint8Array(body),
    });
  const post = async (reports: Report[]) => {
    const answer = await call('POST', 'reports', JSON.stringify({ reports }), {
      'content-type': 'application/json',
    });
    expect(answer.status, await answer.clone().text()).toBe(200);
    return (await answer.json()) as { accepted_seq: number; command: 'continue' | 'stop' };
  };
  return {
    call,
    /** Reports, with the numbers that the server expects. */
    report: async (...reports: Unnumbered[]) => {
      const { accepted_seq } = await post([]);
      const at = clock.now().toISOString();
      return post(reports.map((one, index) => ({ ...one, seq: accepted_seq + index + 1, at })));
    },
    put: async (path: string, text: string) => {
      const sha256 = createHash('sha256').update(text).digest('hex');
      const headers = { 'content-type': 'application/octet-stream', 'x-content-sha256': sha256 };
      expect((await call('PUT', `artefacts/${path}`, Buffer.from(text), headers)).status).toBe(204);
      return { path, sha256, size_bytes: text.length };
    },
  };
}

const step = (done: number, total = 2): Unnumbered => ({
  type: 'progress',
  done,
  total,
  unit: 'steps',
  remaining_seconds: total - done,
});

/** Trains `seconds` and delivers a model. */
function trainFor(seconds: number): Script {
  return async (launch) => {
    const { report, put } = workload(launch);
    await report({ type: 'phase', phase: 'training' }, step(0));
    for (let left = seconds; left > 0; left -= 10) {
      clock.advance({ seconds: Math.min(10, left) });
      await report({ type: 'metrics', step: 1, values: { loss: 1.5 } });
    }
    const files = [await put('adapter_config.json', '{"r":8}'), await put('README.md', '# My model')];
    await report(
      step(2),
      { type: 'log', line: 'done' },
      { type: 'result', files, summary: { eval_loss: 0.5 } },
    );
    return 0;
  };
}

/** Lets the engine bring everything as far as it goes. Time passes only while nothing runs. */
async function bring(until: () => Promise<boolean>) {
  await vi.waitFor(
    async () => {
      if (driver.running().length === 0) clock.advance({ seconds: 4 });
      await app.engine.pass();
      expect(await until()).toBe(true);
    },
    { timeout: 15_000, interval: 20 },
  );
}
const ended = (modelId: string, as = user) => bring(async () => (await runOf(modelId, as)).ended_at !== null);
/** Runs a script until it says 'begun'; the run is then in its hands. */
async function begin(
  work: (launch: Launch, process: FakeProcess) => Promise<number>,
  options: Parameters<typeof start>[0] = {},
) {
  const begun = Promise.withResolvers<Launch>();
  script = async (launch, process) => {
    await workload(launch).report(step(1));
    begun.resolve(launch);
    return work(launch, process);
  };
  const modelId = await start(options);
  await app.engine.pass();
  return { modelId, launch: await begun.promise };
}

describe('a fine-tune', () => {
  test('is quoted, held, trained, made into a model, and charged for its time', async () => {
    script = trainFor(20);
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

    await ended(modelId);
    const run = await runOf(modelId);
    const cost = Math.ceil(20 * PRICE_MICRO_PER_S);
    expect(micro(run.charged)).toBe(cost);
    expect(await toldOf(run.run_id)).toEqual(['run_completed']);
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

    const model = await request(getAsset, { params: { id: modelId } }, { as: user });
    expect(model).toMatchObject({
      title: 'my model',
      card: '# My model',
      parent_dataset_id: baseId,
      lineage: { run_id: run.run_id, base_model: { dataset_id: baseId }, dataset: { dataset_id: datasetId } },
    });
    expect(model.files.map(({ path }) => path)).toEqual(['README.md', 'adapter_config.json']);
    const params = { runId: run.run_id };
    expect((await request(training.getRunMetrics, { params }, { as: user })).points).toMatchObject([
      { values: { loss: 1.5 } },
    ]);
    const [point] = (await request(training.getRunMetrics, { params }, { as: user })).points;
    const pointsAfter = async (instant: string | undefined) =>
      (await request(training.getRunMetrics, { params, query: { after: instant } }, { as: user })).points;
    expect(await pointsAfter(point?.at)).toEqual([]);
    expect(await pointsAfter(new Date(Date.parse(point?.at ?? '') - 1).toISOString())).toEqual([point]);
    await expect(pointsAfter('yesterday')).rejects.toMatchObject({ status: 400 });
    expect((await request(training.getRunLogs, { params }, { as: user })).lines).toMatchObject([
      { line: 'done' },
    ]);
    expect(await request(training.getRun, { params }, { as: user })).toEqual(run);
  });

  test('reads its inputs, those of its own spec alone', async () => {
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
    await request(training.cancelRun, { params: { runId: (await runOf(modelId)).run_id } }, { as: user });
    await ended(modelId);
  });

  test('keeps what it has stored until its result, and what fails leaves nothing', async () => {
    const { services } = app;
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
    await app.engine.pass();
    await collect(inTwoHours);
    expect(await isStored(lost)).toBe(false);
  });

  test('that fails is not charged', async () => {
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
    expect(await toldOf(launch.workloadId)).toEqual(['run_failed']);
    expect((await balance()).held).toBe('0');
  });

  test('that is cancelled while it waits is not charged', async () => {
    const first = await begin(idleUntilStopped);
    const second = await start({ title: 'second' });
    await app.engine.pass();
    const waiting = await runOf(second);
    expect(waiting).toMatchObject({
      state: 'queued',
      reason: expect.stringContaining("your 'my model' is using it"),
    });
    for (const modelId of [second, first.modelId]) {
      const { run_id: runId } = await runOf(modelId);
      expect(await request(training.cancelRun, { params: { runId } }, { as: user })).toMatchObject({
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
  });

  test('that is cancelled while it trains is charged for the time used', async () => {
    const { modelId, launch } = await begin(
      async (one, process) => {
        await idleUntilStopped(one, process);
        await workload(one).report({ type: 'checkpoint', step: 1 }, { type: 'stopped', step: 1 });
        return 0;
      },
      { payload: { ceiling: '1' } },
    );
    clock.advance({ seconds: 12 });
    await workload(launch).report();
    await request(training.cancelRun, { params: { runId: launch.workloadId } }, { as: user });
    await ended(modelId);
    const run = await runOf(modelId);
    expect(run).toMatchObject({
      state: 'cancelled',
      reason: 'Cancelled.',
    });
    expect(micro(run.charged)).toBe(Math.ceil(12 * PRICE_MICRO_PER_S));

    // It goes on under the same id, and the second round pays for its own time alone.
    script = trainFor(20);
    const params = { runId: launch.workloadId };
    const resumed = await request(training.resumeRun, { params }, { as: user, idempotencyKey: 'again' });
    expect(resumed).toMatchObject({ run_id: run.run_id, state: 'queued', charged: null });
    expect((await balance()).held).toBe(resumed.held);
    // What its page said would be held.
    expect(resumed.held).toBe(run.resume_hold);
    const same = await request(training.resumeRun, { params }, { as: user, idempotencyKey: 'again' });
    expect(same).toEqual(resumed);
    await ended(modelId);
    const done = await runOf(modelId);
    expect(done).toMatchObject({ state: 'completed', elapsed_seconds: 32, restarts: 0, held: '0' });
    expect(done.resume_hold).toBeNull();
    expect(micro(done.charged)).toBe(Math.ceil(32 * PRICE_MICRO_PER_S));
    expect((await balance()).held).toBe('0');
    await expect(request(training.resumeRun, { params }, { as: user })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('is stopped at its ceiling with its work saved, and goes on under a higher one', async () => {
    const untilStopped = async (one: Launch) => {
      let command = '';
      for (let round = 0; command !== 'stop' && round < 100; round += 1) {
        clock.advance({ seconds: 5 });
        ({ command } = await workload(one).report(step(1)));
      }
      await workload(one).report({ type: 'checkpoint', step: 1 }, { type: 'stopped', step: 1 });
      return 0;
    };
    const { modelId } = await begin(untilStopped);
    const begun = await runOf(modelId);
    // Half more than the quote, which is what is held at first.
    expect(begun.held).toBe(begun.quote.total);
    expect(micro(begun.ceiling)).toBe(Math.ceil(1.5 * micro(begun.quote.total)));
    await ended(modelId);
    const run = await runOf(modelId);
    expect(run).toMatchObject({
      state: 'cancelled',
      stop_reason: 'ceiling',
      reason: `The run reached its ceiling of ${run.ceiling} BGL. The work was saved.`,
      charged: run.ceiling,
    });

    const call = { params: { runId: run.run_id } };
    await expect(
      request(training.resumeRun, { ...call, body: { ceiling: run.ceiling } }, { as: user }),
    ).rejects.toMatchObject({
      status: 400,
      body: {
        error: {
          param: 'ceiling',
          message: `The run has cost ${run.ceiling} BGL so far. Set a ceiling above that`,
        },
      },
    });
    script = async (one) => {
      await workload(one).report(step(1));
      return untilStopped(one);
    };
    const ceiling = '0.04';
    const resumed = await request(training.resumeRun, { ...call, body: { ceiling } }, { as: user });
    expect(resumed).toMatchObject({ state: 'queued', ceiling, stop_reason: null });
    expect(micro(resumed.held)).toBeLessThanOrEqual(micro(ceiling) - micro(run.ceiling));
    await ended(modelId);
    expect(await runOf(modelId)).toMatchObject({ stop_reason: 'ceiling', charged: ceiling, held: '0' });
    // Without another ceiling it may cost half more than what is left.
    const next = await runOf(modelId);
    expect(micro(next.resume_ceiling)).toBe(micro(ceiling) + Math.ceil(1.5 * micro(next.resume_hold)));
  });

  test('whose ceiling is below its quote holds no more than that', async () => {
    const modelId = await start({ payload: { ceiling: '0.000002' } });
    expect(await runOf(modelId)).toMatchObject({ held: '0.000002', ceiling: '0.000002' });
    const { run_id: runId } = await runOf(modelId);
    await request(training.cancelRun, { params: { runId } }, { as: user });
    await expect(start({ payload: { ceiling: '0' } })).rejects.toMatchObject({ status: 400 });
  });

  test('extends its hold, and is stopped with its work saved when the credit ends', async () => {
    const poor = await server.signUp('Poor');
    // What is left pays for about 100 seconds.
    await spend(poor, parseBgl((await balance(poor)).available) - 70_000n);
    const own = await filesOf(poor);
    const commands: string[] = [];
    const { modelId } = await begin(
      async (one) => {
        for (let round = 0; commands.at(-1) !== 'stop' && round < 50; round += 1) {
          clock.advance({ seconds: 5 });
          commands.push((await workload(one).report(step(1))).command);
        }
        await workload(one).report({ type: 'checkpoint', step: 1 }, { type: 'stopped', step: 1 });
        return 0;
      },
      { as: poor, payload: { ...own, ceiling: '1' } },
    );
    await ended(modelId, poor);
    const run = await runOf(modelId, poor);
    expect(commands.length).toBeLessThan(50);
    expect(run).toMatchObject({
      state: 'cancelled',
      stop_reason: 'credits',
      reason: 'Your credits ran out. The work was saved.',
    });
    expect(micro(run.charged)).toBeGreaterThan(micro(run.quote.total));
    expect(micro(run.charged)).toBeLessThanOrEqual(70_000);
    const left = await balance(poor);
    expect(micro(left.available)).toBe(70_000 - micro(run.charged));
  });

  test('is stopped where the budget of its API key ends, once it has used all of it', async () => {
    const { secret } = await server.request(
      createApiKey,
      {
        params: { userId: user.userId },
        body: { name: 'program', budget: { amount: '0.07', period: 'total' } },
      },
      { as: user },
    );
    const commands: string[] = [];
    const { modelId } = await begin(
      async (one) => {
        for (let round = 0; commands.at(-1) !== 'stop' && round < 50; round += 1) {
          clock.advance({ seconds: 5 });
          commands.push((await workload(one).report(step(1))).command);
        }
        await workload(one).report({ type: 'checkpoint', step: 1 }, { type: 'stopped', step: 1 });
        return 0;
      },
      { as: { ...user, apiKey: secret }, payload: { ceiling: '1' } },
    );
    await ended(modelId);
    const run = await runOf(modelId);
    expect(run).toMatchObject({
      state: 'cancelled',
      stop_reason: 'budget',
      reason: 'The budget of its API key is used up. The work was saved.',
    });
    // The last seconds before the budget's end are worked, too.
    expect(micro(run.charged)).toBeGreaterThan(70_000 - Math.ceil(10 * PRICE_MICRO_PER_S));
    expect(micro(run.charged)).toBeLessThanOrEqual(70_000);
  });

  test('whose hold has expired while it waited takes another one', async () => {
    const modelId = await start();
    const { held } = await runOf(modelId);
    await expire();
    expect((await balance()).held).toBe('0');
    const seen: string[] = [];
    script = async (launch, process) => {
      await workload(launch).report(step(1));
      seen.push((await balance()).held);
      return trainFor(20)(launch, process);
    };
    await ended(modelId);
    const run = await runOf(modelId);
    expect(seen).toEqual([held]);
    expect(run).toMatchObject({ state: 'completed', held: '0' });
    expect(micro(run.charged)).toBe(Math.ceil(20 * PRICE_MICRO_PER_S));
    expect((await balance()).held).toBe('0');
  });

  test('that goes on with neither hold nor credit is stopped', async () => {
    const broke = await server.signUp('Broke');
    const own = await filesOf(broke);
    script = async (launch, process) => {
      await workload(launch).report(step(1));
      await idleUntilStopped(launch, process);
      return 0;
    };
    const modelId = await start({ as: broke, payload: own });
    await expire();
    await spend(broke, parseBgl((await balance(broke)).available));
    await ended(modelId, broke);
    expect(await runOf(modelId, broke)).toMatchObject({
      state: 'cancelled',
      charged: '0',
      reason: 'Your credits ran out. The work was saved.',
    });
  });

  test('whose hold has expired while nobody metered it ends, and is not charged', async () => {
    const { modelId, launch } = await begin(async (one, process) => {
      await idleUntilStopped(one, process);
      return 0;
    });
    clock.advance({ seconds: 12 });
    await workload(launch).report();
    await expire();
    await request(training.cancelRun, { params: { runId: launch.workloadId } }, { as: user });
    await ended(modelId);
    expect(await runOf(modelId)).toMatchObject({
      state: 'cancelled',
      elapsed_seconds: 12,
      charged: '0',
      reason: 'Cancelled.',
    });
  });

  test('that is resumed while its dataset is being deleted does not begin again', async () => {
    const sources = await filesOf(user);
    const { modelId, launch } = await begin(
      async (one, process) => {
        await idleUntilStopped(one, process);
        await workload(one).report({ type: 'checkpoint', step: 1 }, { type: 'stopped', step: 1 });
        return 0;
      },
      { payload: sources },
    );
    const params = { runId: launch.workloadId };
    await request(training.cancelRun, { params }, { as: user });
    await ended(modelId);

    const { db } = server.services;
    let resuming: Promise<unknown> = Promise.resolve();
    await db.transaction().execute(async (tx) => {
      await tx.deleteFrom('assets').where('id', '=', sources.asset_id).execute();
      resuming = request(training.resumeRun, { params }, { as: user });
      resuming.catch(() => undefined);
      await vi.waitFor(async () => {
        const { rows } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
        expect(rows).toHaveLength(1);
      });
    });
    await expect(resuming).rejects.toMatchObject({ status: 404 });
    expect(await runOf(modelId)).toMatchObject({ state: 'cancelled', held: '0' });
  });

  test('that is resumed while its end is being written knows what that end has charged', async () => {
    const { modelId, launch } = await begin(
      async (one, process) => {
        await idleUntilStopped(one, process);
        await workload(one).report({ type: 'checkpoint', step: 1 }, { type: 'stopped', step: 1 });
        return 0;
      },
      { payload: { ceiling: '1' } },
    );
    const params = { runId: launch.workloadId };
    clock.advance({ seconds: 12 });
    await workload(launch).report();
    await request(training.cancelRun, { params }, { as: user });
    await ended(modelId);

    // The end once more: what it wrote is taken back, and written again while the resume waits for it.
    const { db } = server.services;
    const charge = (tx: typeof db, charged_micro: bigint | null) =>
      tx.updateTable('runs').set({ charged_micro }).where('id', '=', params.runId).execute();
    const time = (tx: typeof db, active_seconds: number) =>
      tx.updateTable('workloads').set({ active_seconds }).where('id', '=', params.runId).execute();
    const charged = BigInt(micro((await runOf(modelId)).charged));
    await charge(db, null);
    await time(db, 0);
    script = trainFor(20);
    const resumed = await db.transaction().execute(async (tx) => {
      await time(tx, 12);
      await charge(tx, charged);
      const resuming = request(training.resumeRun, { params }, { as: user, idempotencyKey: 'at the end' });
      await vi.waitFor(async () => {
        const { rows } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
        expect(rows).toHaveLength(1);
      });
      return { resuming };
    });
    await resumed.resuming;
    await ended(modelId);
    const run = await runOf(modelId);
    expect(run).toMatchObject({ state: 'completed', elapsed_seconds: 32 });
    expect(micro(run.charged)).toBe(Math.ceil(32 * PRICE_MICRO_PER_S));
  });

  test('that crashes goes on under the same id, and pays once for its work', async () => {
    let attempts = 0;
    script = async (launch, process) => {
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

describe('starting', () => {
  const counts = async () => {
    const { db } = server.services;
    const tables = ['assets', 'runs', 'workloads', 'ledger_holds', 'asset_lineage'] as const;
    return Promise.all(
      tables.map(async (table) => {
        const row = await db
          .selectFrom(table)
          .select((build) => build.fn.countAll<bigint>().as('count'))
          .executeTakeFirst();
        return row?.count;
      }),
    );
  };

  test('without enough credit leaves nothing', async () => {
    const before = await counts();
    const { available } = await balance();
    read = { ...goodData, train_tokens: 1_000_000_000_000 };
    await expect(start()).rejects.toMatchObject({
      status: 402,
      code: 'insufficient_funds',
      body: { error: { required_amount: expect.any(String), available_amount: available } },
    });
    read = goodData;
    expect(await counts()).toEqual(before);
  });

  test('reads its data in the format that the validation has recognised', async () => {
    const format = {
      format: 'messages',
      input_column: 'chat',
      output_column: '',
      system_column: 'system',
    } as const;
    read = { ...goodData, format };
    const { modelId, launch } = await begin(idleUntilStopped, {
      payload: { input_column: null, output_column: null },
    });
    read = goodData;
    const kept = { input_column: 'chat', output_column: null, system_column: 'system' };
    expect(launch.spec).toMatchObject({ data: { ...kept, format: 'messages' } });
    const run = await runOf(modelId);
    expect(run.parameters).toMatchObject({ ...kept, data_format: 'messages' });
    await request(training.cancelRun, { params: { runId: run.run_id } }, { as: user });
    await ended(modelId);
  });

  test('is refused for what the validation refuses', async () => {
    const before = await counts();
    await expect(start({ payload: { input_column: null } })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('Input and output columns are required for non-text files'),
    });
    await expect(start({ payload: { file_name: 'other.csv' } })).rejects.toThrow(
      'Invalid file selection. Please try again.',
    );
    await expect(start({ payload: { base_model: datasetId } })).rejects.toThrow('rows is a dataset');
    read = { ...goodData, critical_errors: ['There is no column question.'] };
    await expect(start()).rejects.toThrow('There is no column question.');
    read = { ...goodData, memory_bytes: 1e15 };
    await expect(start()).rejects.toThrow(/needs about .* GB of memory, and this machine has/);
    read = goodData;
    expect(await counts()).toEqual(before);
  });

  test.each(['asset_id', 'base_model'] as const)(
    'without its %s, deleted meanwhile, leaves nothing',
    async (source) => {
      const sources = await filesOf(user);
      const before = await counts();
      meanwhile = () => request(deleteAsset, { params: { id: sources[source] } }, { as: user });
      try {
        await expect(start({ payload: sources })).rejects.toMatchObject({ status: 404, code: 'not_found' });
      } finally {
        meanwhile = async () => {};
      }
      const after = await counts();
      expect(after).toEqual([before[0] ? before[0] - 1n : null, ...before.slice(1)]);
    },
  );

  test('twice with one key is once', async () => {
    script = trainFor(1);
    const [first, second] = await Promise.all([start({ key: 'once' }), start({ key: 'once' })]);
    expect(second).toBe(first);
    await expect(start({ key: 'once', title: 'other' })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    await ended(first);
    read = { ...goodData, critical_errors: ['The file is gone.'] };
    expect(await start({ key: 'once' })).toBe(first);
    read = goodData;
  });

  test("from somebody else's files is refused", async () => {
    const other = await server.signUp('Eve');
    await expect(start({ as: other })).rejects.toMatchObject({ status: 404 });
    await expect(start({ payload: { user_id: other.userId } })).rejects.toMatchObject({ status: 403 });
  });

  test('keeps what it uses from being deleted until it has ended', async () => {
    const { modelId, launch } = await begin(idleUntilStopped);
    for (const id of [datasetId, baseId, modelId]) {
      await expect(request(deleteAsset, { params: { id } }, { as: user })).rejects.toThrow(
        "The run of 'my model' uses it",
      );
    }
    await request(training.cancelRun, { params: { runId: launch.workloadId } }, { as: user });
    await ended(modelId);
    await request(deleteAsset, { params: { id: modelId } }, { as: user });
    const { datasets } = await request(
      listAssets,
      { query: { types: 'MODEL', owner: user.userId } },
      { as: user },
    );
    expect(datasets.map(({ dataset_id }) => dataset_id)).not.toContain(modelId);
    expect(
      await request(training.getRun, { params: { runId: launch.workloadId } }, { as: user }),
    ).toMatchObject({ state: 'cancelled' });
  });
});

test('starting a fine-tune is limited as its validation is: both read the file', () => {
  const bindings = trainingRoutes({
    capacity: driver.capacity,
    readData: async () => goodData,
    load: estimateLoad(() => ({ cores: 1, memoryBytes: 1e12, load: idleCpu(), slots: 1, atWork: 0 })),
  });
  const limitOf = (endpoint: object) => bindings.find((one) => one.endpoint === endpoint)?.callsPerMinute;
  expect(limitOf(createAsset)).toBe(60);
  expect(limitOf(training.validateFineTune)).toBe(60);
});

test('recent runs are those under way, and those that ended within the hour', async () => {
  const modelId = await start();
  const recent = async () =>
    (await request(training.listRuns, { query: { model_id: modelId, recent: 'true' } }, { as: user })).runs
      .length;
  expect(await recent()).toBe(1);
  const { run_id: runId } = await runOf(modelId);
  await request(training.cancelRun, { params: { runId } }, { as: user });
  await ended(modelId);
  expect(await recent()).toBe(1);
  clock.advance({ seconds: 3601 });
  expect(await recent()).toBe(0);
});

describe('validation', () => {
  const validate = (more: object = {}) =>
    request(
      training.validateFineTune,
      {
        body: {
          dataset_id: datasetId,
          model_id: baseId,
          file_name: 'rows.csv',
          input_column: 'question',
          output_column: 'answer',
          ...more,
        },
      },
      { as: user },
    );

  test('needs no columns where the format has none, and none where nothing is named', async () => {
    const nothing = { input_column: null, output_column: null };
    expect((await validate(nothing)).critical_errors).toEqual([]);
    expect((await validate({ ...nothing, data_format: 'messages' })).critical_errors).toEqual([]);
    expect((await validate({ ...nothing, data_format: 'prompt_completion' })).critical_errors).toEqual([
      'Input and output columns are required for non-text files',
    ]);
  });

  test('refuses one column as both input and output', async () => {
    const { critical_errors } = await validate({ output_column: 'question' });
    expect(critical_errors).toEqual(['Input and output must be different columns']);
  });

  test('tells the place, the cost, the data and the GPUs that would do', async () => {
    const answer = await validate();
    expect(answer).toMatchObject({
      critical_errors: [],
      placement: {
        device: 'cpu',
        description:
          'This machine has no NVIDIA Tesla A100 (40GB): the run goes to its CPU and is charged at the CPU price.',
      },
      data: { rows_kept: 9, dropped: [{ line: 4, reason: 'The answer is empty' }] },
      cost_estimate: { quote: { items: [{ label: "Training on this machine's CPU", unit: 'hour' }] } },
    });
    expect(answer.cost_estimate.usd_cost).toMatch(/^\d+\.\d\d$/);
    expect(answer.recommendations.recommended_gpus[0]?.description).toMatch(
      /^NVIDIA .*: needs 1\.9 GB, about \d+ s, \$/,
    );
    const modelId = await start();
    expect((await runOf(modelId)).quote).toEqual(answer.cost_estimate.quote);
    await request(training.cancelRun, { params: { runId: (await runOf(modelId)).run_id } }, { as: user });
    await ended(modelId);
  });

  test('is given up when its client disconnects', async () => {
    const release = Promise.withResolvers<void>();
    meanwhile = () => release.promise;
    readSignal = undefined;
    const client = new AbortController();
    const answer = fetch(`${server.url}/api/v1/fine-tune/validate`, {
      method: 'POST',
      headers: { 'x-api-key': user.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({
        dataset_id: datasetId,
        model_id: baseId,
        file_name: 'rows.csv',
        input_column: 'question',
        output_column: 'answer',
      }),
      signal: client.signal,
    }).catch(() => 'disconnected');
    await vi.waitFor(() => expect(readSignal?.aborted).toBe(false), { timeout: 10_000 });
    client.abort();
    await vi.waitFor(() => expect(readSignal?.aborted).toBe(true), { timeout: 10_000 });
    expect(await answer).toBe('disconnected');
    meanwhile = async () => {};
    release.resolve();
  });

  test('estimates for the present load, says so, and holds what it has shown', async () => {
    const idle = (await validate()).cost_estimate;
    expect(idle.slowdown).toBe(1);
    expect(idle.load).toContain('Estimated for the current load: this machine is mostly idle.');
    await beBusy(10);
    const busy = (await validate()).cost_estimate;
    expect(busy.load).toContain('about 6 times as long as on an idle one');
    expect(busy.duration_hours / idle.duration_hours).toBeCloseTo(6);
    await beBusy(2);
    const modelId = await start();
    const run = await runOf(modelId);
    expect(run.quote).toEqual(busy.quote);
    expect(run.held).toBe(busy.quote.total);
    await request(training.cancelRun, { params: { runId: run.run_id } }, { as: user });
    await ended(modelId);
    await beBusy(0);
  });

  test('takes the speed of a finished run as it would have been on an idle machine', async () => {
    await beBusy(12);
    script = trainFor(600);
    const modelId = await start({ payload: { ceiling: '1' } });
    await ended(modelId);
    await beBusy(0);
    const { db } = server.services;
    const { run_id } = await runOf(modelId);
    const { slowdown } = await db
      .selectFrom('runs')
      .select('slowdown')
      .where('id', '=', run_id)
      .executeTakeFirstOrThrow();
    // Ten threads of others beside its own two.
    expect(slowdown).toBeCloseTo(6, 3);
    const before = (await validate()).cost_estimate.duration_hours;
    await db
      .updateTable('runs')
      .set(({ eb }) => ({ slowdown: eb('slowdown', '*', 3) }))
      .execute();
    expect((await validate()).cost_estimate.duration_hours).toBeCloseTo(before / 3);
  });

  test('warns of a strange learning rate and refuses one that is none', async () => {
    const { warnings } = await validate({ learning_rate: 0.5 });
    expect(warnings).toContainEqual(expect.stringContaining('far above'));
    await expect(validate({ learning_rate: 0 })).rejects.toThrow('Learning rate must be greater than 0');
    await expect(validate({ epochs: 0 })).rejects.toThrow('Epochs must be at least 1');
    await expect(validate({ epochs: 1001 })).rejects.toThrow('Epochs must be at most 1000');
    await expect(validate({ batch_size: 1e9 })).rejects.toThrow('Batch size must be at most 1024');
    await expect(validate({ accelerator_count: 3 })).rejects.toThrow('Please select a valid number of GPUs');
    await expect(validate({ gpu_type: 'RTX' })).rejects.toThrow('Please select a GPU configuration');
  });

  test('warns of what could be trained, but not deployed', async () => {
    expect((await validate()).warnings).toEqual([expect.stringContaining('tiny base has no GGUF file')]);
    const model_id = await create(user, 'MODEL', 'other base', {
      'model.safetensors': emptySafetensors(),
      'model.gguf': emptyGguf(),
    });
    expect((await validate({ model_id })).warnings).toEqual([]);
    read = { ...goodData, gguf_obstacle: 'llama.cpp does not know the model family x.' };
    const { warnings } = await validate({ model_id });
    read = goodData;
    expect(warnings).toEqual([expect.stringContaining('not know the model family x')]);
  });

  test('needs no columns for text', async () => {
    const id = await create(user, 'RAW', 'a text', { 'a.TXT': 'Once upon a time.' });
    const answer = await validate({
      dataset_id: id,
      file_name: 'a.TXT',
      input_column: null,
      output_column: null,
    });
    expect(answer.critical_errors).toEqual([]);
  });
});

test('runs are listed page by page, each once', async () => {
  const as = await server.signUp();
  const list = (query: object) => request(training.listRuns, { query }, { as });
  expect(await list({ limit: 2 })).toEqual({ runs: [], next_cursor: null });
  const all = (await request(training.listRuns, { query: { limit: 100 } }, { as: user })).runs;
  expect(all.length).toBeGreaterThan(4);
  const paged: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await request(training.listRuns, { query: { limit: 2, cursor } }, { as: user });
    paged.push(...page.runs.map((run) => run.run_id));
    cursor = page.next_cursor;
  }
  expect(paged).toEqual(all.map((run) => run.run_id));
  const wanted = [...new Set(all.map((run) => run.model_id))].slice(0, 3);
  const some = await request(training.listRuns, { query: { model_id: wanted.join(',') } }, { as: user });
  expect(some.runs).toEqual(all.filter((run) => wanted.includes(run.model_id)));
  expect((await list({ model_id: wanted.join(',') })).runs).toEqual([]);
  await expect(list({ model_id: `${wanted[0]},x` })).rejects.toThrow('No model has this id');
  // Another user's run is no place in one's own list.
  await expect(list({ cursor: all[0]?.run_id })).rejects.toThrow(/cursor must be the next_cursor/);
  await expect(list({ cursor: randomUUID() })).rejects.toThrow(/cursor must be the next_cursor/);
});

test('runs are found by their state and by their names, and counted with what they have cost', async () => {
  const list = async (query: object, as = user) =>
    (await request(training.listRuns, { query: { limit: 100, ...query } }, { as })).runs;
  const all = await list({});
  const active = ['queued', 'starting', 'running', 'stopping'];
  expect(await list({ state: 'cancelled' })).toEqual(all.filter((run) => run.state === 'cancelled'));
  expect(await list({ state: 'active' })).toEqual(all.filter((run) => active.includes(run.state)));
  const [first] = all;
  expect(await list({ search: first?.title.toUpperCase() })).toContainEqual(first);
  expect(await list({ search: first?.dataset.title })).toContainEqual(first);
  expect(await list({ search: '%' })).toEqual([]);
  await expect(list({ state: 'over' })).rejects.toThrow(
    'state must be one of active, completed, cancelled, failed',
  );

  const sums = await request(training.runStats, {}, { as: user });
  expect(sums.active + sums.completed + sums.cancelled + sums.failed).toBe(all.length);
  expect(sums.cancelled).toBe(all.filter((run) => run.state === 'cancelled').length);
  const total = (amounts: (string | null)[]) => amounts.reduce((sum, amount) => sum + micro(amount), 0);
  expect(micro(sums.cost)).toBe(total(all.map((run) => run.charged)));
  expect(micro(sums.held)).toBe(total(all.map((run) => run.held)));
  const settled = all.filter((run) => run.charged !== null);
  expect(settled.map((run) => run.cost_so_far)).toEqual(settled.map((run) => run.charged));
  const stranger = await server.signUp();
  expect(await list({ search: first?.title }, stranger)).toEqual([]);
  expect(await request(training.runStats, {}, { as: stranger })).toEqual({
    ...{ active: 0, completed: 0, cancelled: 0, failed: 0 },
    ...{ cost: '0', held: '0' },
  });
});
