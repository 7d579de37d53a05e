import { getRun, listRuns } from '@bakehouse/contract/runs';
import OpenAI, { toFile } from 'openai';
import { beforeEach, expect, test } from 'vitest';
import { idleUntilStopped } from '../../../engine/drivers/fake/fake-driver.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { goodData } from '../testing/test-run.ts';
import { trainingServer } from '../testing/training-server.ts';

const { machine, server, user, request, balance, ended } = await trainingServer();

const openai = (as: TestUser = user) =>
  new OpenAI({ baseURL: `${server.url}/v1`, apiKey: as.apiKey, maxRetries: 0 });
const jobs = () => openai().fineTuning.jobs;

const row = (question: string) =>
  `{"messages": [{"role": "user", "content": "${question}"}, {"role": "assistant", "content": "b"}]}\n`;
const upload = async (
  name: string,
  content: string,
  as: TestUser = user,
  purpose: 'fine-tune' | 'batch' = 'fine-tune',
) => (await openai(as).files.create({ file: await toFile(Buffer.from(content), name), purpose })).id;
const trained = await upload('rows.jsonl', row('a'));
const heldOut = await upload('held.jsonl', row('c'));
const good = { model: 'tiny base', training_file: trained, validation_file: heldOut };

beforeEach(() => {
  machine.data = goodData;
  machine.script = idleUntilStopped;
});

test('a job is evaluated on its validation file', async () => {
  const job = await jobs().create(good);
  expect(job.validation_file).toBe(heldOut);
  expect((await jobs().retrieve(job.id)).validation_file).toBe(heldOut);
  expect(machine.read).toMatchObject({
    ...{ dataFile: { path: 'rows.jsonl' }, validationFile: { path: 'held.jsonl' } },
    spec: { data: { file_path: 'rows.jsonl', validation_path: 'held.jsonl' } },
  });
  const { run_id: runId, model_id: modelId } = job as unknown as { run_id: string; model_id: string };
  const run = await request(getRun, { params: { runId } }, { as: user });
  expect(run).toMatchObject({
    ...{ dataset: { file_name: 'rows.jsonl' }, validation: { file_name: 'held.jsonl' } },
  });
  const { spec } = await server.services.db
    .selectFrom('workloads')
    .select('spec')
    .where('id', '=', runId)
    .executeTakeFirstOrThrow();
  expect(spec).toMatchObject({
    ...{ data: { file_path: 'rows.jsonl', validation_path: 'held.jsonl' } },
    inputs: [
      { name: 'base_model' },
      { name: 'dataset', files: [{ path: 'rows.jsonl' }] },
      { name: 'validation', files: [{ path: 'held.jsonl' }] },
    ],
  });
  const { data } = await jobs().listEvents(job.id);
  expect(data.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/^Validated the training file and the validation file\. Quote: /),
  );

  // The validation file cannot be deleted while the run needs it.
  await expect(openai().files.delete(heldOut)).rejects.toMatchObject({ status: 409 });
  await jobs().cancel(job.id);
  await ended(modelId);
  const other = await upload('other.jsonl', row('d'));
  const second = await jobs().create({ ...good, validation_file: other });
  await jobs().cancel(second.id);
  await ended((second as unknown as { model_id: string }).model_id);
  await openai().files.delete(other);
  await expect(jobs().resume(second.id)).rejects.toMatchObject({
    ...{ status: 409, message: expect.stringContaining('The validation file ‘other.jsonl’ was deleted') },
  });
});

test.each(['training_file', 'validation_file'])(
  'refuses a file that was uploaded for batches as %s',
  async (param) => {
    const batch = await upload('requests.jsonl', row('e'), user, 'batch');
    await expect(jobs().create({ ...good, [param]: batch })).rejects.toMatchObject({
      ...{ status: 400, param, message: expect.stringContaining(`${param} must have the purpose fine-tune`) },
    });
  },
);

test('without a validation file part of the training file is held out', async () => {
  const job = await jobs().create({ ...good, validation_file: null });
  expect(job.validation_file).toBeNull();
  expect(machine.read).toMatchObject({ validationFile: null, spec: { data: { validation_path: null } } });
  await jobs().cancel(job.id);
  await ended((job as unknown as { model_id: string }).model_id);
});

test('refuses a useless or unreadable validation file by field and holds nothing', async () => {
  const before = await balance();
  const runs = async () => (await request(listRuns, { query: {} }, { as: user })).runs.length;
  const count = await runs();
  const refusedBy = async (id: string, message: string, status = 400) =>
    expect(jobs().create({ ...good, validation_file: id })).rejects.toMatchObject({
      ...{ status, param: 'validation_file', message: expect.stringContaining(message) },
    });
  await refusedBy(trained, 'must be another file than training_file');
  await refusedBy(await upload('copy.jsonl', row('a')), 'must be another file than training_file');
  await refusedBy(`file-${'0'.repeat(32)}`, 'There is no file', 404);
  await refusedBy('rows', 'No file has this id', 404);
  await refusedBy(await upload('held.jsonl', row('x'), await server.signUp()), 'There is no file', 404);
  machine.data = { ...goodData, validation_errors: ['held.jsonl is empty.'] };
  await refusedBy(heldOut, 'held.jsonl is empty.');
  // If both files have faults, the error names the training file.
  machine.data = { ...machine.data, critical_errors: ['Row 1 has no answer'] };
  await expect(jobs().create(good)).rejects.toMatchObject({ param: 'training_file' });
  expect(await balance()).toEqual(before);
  expect(await runs()).toBe(count);
});
