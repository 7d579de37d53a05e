import { createAsset } from '@bakehouse/contract/assets';
import { exportData } from '@bakehouse/contract/privacy';
import { getHeldOutAnswers, getRun, listRuns } from '@bakehouse/contract/runs';
import type { HeldOutAnswers, Report } from '@bakehouse/contract/runtime/report';
import { expect, test, vi } from 'vitest';
import type { Launch } from '../../../engine/drivers/driver.ts';
import { createFakeDriver, idleUntilStopped, type Script } from '../../../engine/drivers/fake/fake-driver.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { closeAccount } from '../../accounts/deletion/close-account.ts';
import { purgeUser } from '../../privacy/purge-user.ts';
import { emptySafetensors, goodData } from '../testing/test-run.ts';

const answers: HeldOutAnswers = {
  task: 'answer',
  rows: [
    {
      question: 'What does the house loaf cost?',
      earlier_turns: 0,
      expected: '39 euros.',
      base: 'It depends on the bakery…',
      tuned: '129 euros.',
    },
  ],
  skipped: null,
};

let script: Script = idleUntilStopped;
const clock = fakeClock();
const server = await testServer({
  clock,
  driver: createFakeDriver({
    capacity: { 'cpu:run': 3 },
    script: (launch, process) => script(launch, process),
  }),
  readData: async () => goodData,
});
const { request, app } = server;
const { config } = server.services;

async function upload(as: TestUser, type: 'RAW' | 'MODEL', files: Record<string, string | Buffer>) {
  const body = { dataset_type: type, title: 'mine', user_id: as.userId } as const;
  const id = await request(createAsset, { body }, { as });
  for (const [name, bytes] of Object.entries(files)) {
    const form = new FormData();
    form.set('data_file', new Blob([new Uint8Array(Buffer.from(bytes))]), name);
    const options = { method: 'POST', headers: { 'x-api-key': as.apiKey }, body: form };
    expect((await fetch(`${server.url}/api/v1/asset/${id}/upload`, options)).status).toBe(200);
  }
  return id;
}

/** Starts a run that begins to train and then stops reporting. */
async function trainingRun(as: TestUser) {
  const payload = {
    asset_id: await upload(as, 'RAW', { 'rows.csv': 'question,answer\na,b\n' }),
    base_model: await upload(as, 'MODEL', { 'config.json': '{}', 'model.safetensors': emptySafetensors() }),
    ...{ model_name: 'baker', file_name: 'rows.csv', user_id: as.userId },
    ...{ input_column: 'question', output_column: 'answer', ceiling: '100' },
  };
  const begun = Promise.withResolvers<Launch>();
  script = async (launch, process) => {
    begun.resolve(launch);
    return idleUntilStopped(launch, process);
  };
  const body = { dataset_type: 'MODEL', title: 'baker', user_id: as.userId } as const;
  const model = await request(createAsset, { body: { ...body, fine_tune_payload: payload } }, { as });
  await app.engine.pass();
  const { runs } = await request(listRuns, { query: { model_id: model } }, { as });
  return { runId: runs[0]?.run_id ?? '', launch: await begun.promise };
}

type Said = Report extends infer R ? (R extends Report ? Omit<R, 'seq' | 'at'> : never) : never;

/** Sends reports like the runtime. Returns the status. */
async function say({ workloadId, server: { base_url, token } }: Launch, ...said: Said[]): Promise<number> {
  const post = (reports: object[]) =>
    fetch(`${base_url}/runtime/v1/workloads/${workloadId}/reports`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ reports }),
    });
  const { accepted_seq } = (await (await post([])).json()) as { accepted_seq: number };
  const at = clock.now().toISOString();
  return (await post(said.map((one, index) => ({ ...one, seq: accepted_seq + index + 1, at })))).status;
}

const saidOf = async (runId: string, as: TestUser) =>
  (await request(getHeldOutAnswers, { params: { runId } }, { as })).held_out_answers;
const report = { type: 'held_out_answers', ...answers } as const;

test("stores both models' answers to held-out rows; only users who may read the run can read them", async () => {
  const [ada, bo] = [await server.signUp('Ada'), await server.signUp('Bo')];
  const { runId, launch } = await trainingRun(ada);
  expect(await saidOf(runId, ada)).toBeNull();
  const skipped: HeldOutAnswers = { task: 'answer', rows: [], skipped: 'The models could not be asked.' };
  expect(await say(launch, { type: 'held_out_answers', ...skipped })).toBe(200);
  expect(await saidOf(runId, ada)).toEqual(skipped);
  // The runtime reports the answers again after a restart.
  expect(await say(launch, report)).toBe(200);
  expect(await saidOf(runId, ada)).toEqual(answers);
  await expect(saidOf(runId, bo)).rejects.toMatchObject({ status: 404 });

  const exported = await (await server.send(exportData, {}, { headers: { cookie: ada.cookie } })).json();
  expect(exported).toMatchObject({ runs: [{ run_id: runId, held_out_answers: answers }] });

  await inTransaction(server.services.db, (tx) =>
    closeAccount(tx, { userId: ada.userId, now: clock.now(), config }),
  );
  // A run that continues may report its answers again after they were deleted.
  await purgeUser(server.services, ada.userId);
  expect(await say(launch, report)).toBe(200);
  await vi.waitFor(
    async () => {
      clock.advance({ seconds: 4 });
      await app.engine.pass();
      expect(await purgeUser(server.services, ada.userId)).toBe(true);
    },
    { interval: 20 },
  );
  expect(await server.services.db.selectFrom('held_out_answers').selectAll().execute()).toEqual([]);
});

test('time in which both models answer held-out rows is not charged', async () => {
  const cy = await server.signUp('Cy');
  const { runId, launch } = await trainingRun(cy);
  const seconds = async () => (await request(getRun, { params: { runId } }, { as: cy })).elapsed_seconds;
  const pass = async (...said: Said[]) => {
    clock.advance({ seconds: 10 });
    await say(launch, ...said);
  };
  await say(launch, { type: 'progress', done: 1, total: 2, unit: 'steps', remaining_seconds: 1 });
  await pass({ type: 'phase', phase: 'asking both models', counted: false });
  expect(await seconds()).toBe(10);
  await pass();
  await pass(report, { type: 'phase', phase: 'saving' });
  expect(await seconds()).toBe(10);
  await pass();
  expect(await seconds()).toBe(20);
});

test('refuses too many or too long answers', async () => {
  const di = await server.signUp('Di');
  const { runId, launch } = await trainingRun(di);
  const [row] = answers.rows;
  if (!row) throw new Error('a row expected');
  expect(await say(launch, { ...report, rows: Array.from({ length: 6 }, () => row) })).toBe(400);
  expect(await say(launch, { ...report, rows: [{ ...row, tuned: 'a'.repeat(3000) }] })).toBe(400);
  expect(await saidOf(runId, di)).toBeNull();
});
