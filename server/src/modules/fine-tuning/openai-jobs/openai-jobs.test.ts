import { getAsset } from '@bakehouse/contract/assets';
import * as runContract from '@bakehouse/contract/runs';
import OpenAI, { toFile } from 'openai';
import { beforeEach, expect, test } from 'vitest';
import { idleUntilStopped } from '../../../engine/drivers/fake/fake-driver.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { goodData } from '../testing/test-run.ts';
import { trainingServer } from '../testing/training-server.ts';
import { micro, PRICE_MICRO_PER_S } from '../testing/workload-calls.ts';

const { machine, server, user, baseId, clock, request, runOf, balance, ended, begin, workload, trainFor } =
  await trainingServer();

const openai = (as: TestUser = user) =>
  new OpenAI({ baseURL: `${server.url}/v1`, apiKey: as.apiKey, maxRetries: 0 });
const jobs = (as?: TestUser) => openai(as).fineTuning.jobs;

const ROW = '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}\n';
const uploadRows = async (as: TestUser = user) =>
  (
    await openai(as).files.create({
      file: await toFile(Buffer.from(ROW), 'rows.jsonl'),
      purpose: 'fine-tune',
    })
  ).id;

beforeEach(() => {
  machine.data = goodData;
});

test('a job is quoted, held, trained and charged like a run, and its model gets a name', async () => {
  machine.script = trainFor(20);
  const before = await balance();
  const file = await uploadRows();
  const job = await jobs().create({
    ...{ model: 'tiny base', training_file: file, suffix: 'My Bakery', seed: 7, metadata: { shop: 'north' } },
    method: {
      type: 'supervised',
      supervised: { hyperparameters: { n_epochs: 2, batch_size: 'auto', learning_rate_multiplier: 0.5 } },
    },
  });
  const [run] = (await request(runContract.listRuns, { query: {} }, { as: user })).runs;
  if (!run) throw new Error('no run');
  const hyperparameters = { n_epochs: 2, batch_size: 4, learning_rate_multiplier: 0.5 };
  expect(job).toMatchObject({
    ...{ id: `ftjob-${run.run_id.replaceAll('-', '')}`, object: 'fine_tuning.job', status: 'queued' },
    ...{ model: 'tiny-base', fine_tuned_model: null, training_file: file, validation_file: null },
    ...{ hyperparameters, method: { type: 'supervised', supervised: { hyperparameters } }, seed: 7 },
    ...{ metadata: { shop: 'north' }, user_provided_suffix: 'My Bakery', error: null, finished_at: null },
    ...{ result_files: [], trained_tokens: null, run_id: run.run_id, quote: run.quote.total },
  });
  expect(run).toMatchObject({
    title: 'tiny base My Bakery',
    parameters: { epochs: 2, learning_rate: 1e-4, seed: 7, train_test_split: 0.9 },
  });
  expect((await balance()).held).toBe(run.quote.total);

  await ended(run.model_id);
  const done = await jobs().retrieve(job.id);
  const { username } = await server.services.db
    .selectFrom('users')
    .select('username')
    .where('id', '=', user.userId)
    .executeTakeFirstOrThrow();
  expect(done).toMatchObject({
    ...{ status: 'succeeded', finished_at: expect.any(Number), error: null },
    fine_tuned_model: `ft:tiny-base:${username}:my-bakery:${run.model_id.slice(0, 8)}`,
    cost_so_far: (await runOf(run.model_id)).charged,
  });
  const after = await balance();
  expect(after.held).toBe('0');
  expect(micro(before.balance) - micro(after.balance)).toBe(Math.ceil(20 * PRICE_MICRO_PER_S));

  const [results = ''] = done.result_files;
  expect(await openai().files.retrieve(results)).toMatchObject({
    ...{ filename: 'step_metrics.csv', purpose: 'fine-tune-results' },
  });
  expect(await (await openai().files.content(results)).text()).toBe('step,train_loss,valid_loss\n1,1.5,\n');
  const stranger = await server.signUp();
  await expect(openai(stranger).files.content(results)).rejects.toMatchObject({ status: 404 });
  const checkpoints = await jobs().checkpoints.list(job.id);
  expect(checkpoints.data).toMatchObject([
    { fine_tuned_model_checkpoint: done.fine_tuned_model, metrics: { valid_loss: 0.5 } },
  ]);
  const { data } = await openai().models.list();
  expect(data).toContainEqual(
    expect.objectContaining({ id: done.fine_tuned_model, parent: 'tiny-base', owned_by: user.userId }),
  );
  const { data: others } = await openai(stranger).models.list();
  expect(others.map(({ id }) => id)).not.toContain(done.fine_tuned_model);
  const again = await jobs().create({ model: done.model, training_file: file });
  expect(again).toMatchObject({
    model: done.model,
    hyperparameters: { n_epochs: 3, learning_rate_multiplier: 1 },
  });
  await jobs().cancel(again.id);
  await deletesFineTune(done.fine_tuned_model ?? '', stranger);
});

/** Checks that only its owner can delete the fine-tune. */
async function deletesFineTune(name: string, stranger: TestUser): Promise<void> {
  await expect(openai(stranger).models.delete(name)).rejects.toMatchObject({ status: 404 });
  await expect(openai().models.delete('tiny-base')).rejects.toThrow('only fine-tunes can be deleted');
  expect(await openai().models.delete(name)).toEqual({ id: name, object: 'model', deleted: true });
  await expect(openai().models.retrieve(name)).rejects.toMatchObject({ status: 404 });
}

test('a job trains preferences with DPO and reports it', async () => {
  const format = {
    format: 'preference',
    ...{ input_column: 'input', output_column: 'preferred_output' },
    ...{ rejected_column: 'non_preferred_output', label_column: null, system_column: null },
  } as const;
  machine.data = { ...goodData, format, tied_embeddings: false };
  machine.script = idleUntilStopped;
  const training_file = await uploadRows();
  const dpo = { hyperparameters: { beta: 0.2, n_epochs: 2, batch_size: 8, learning_rate_multiplier: 2 } };
  const job = await jobs().create({ model: 'tiny base', training_file, method: { type: 'dpo', dpo } });
  const { beta: _, ...hyperparameters } = dpo.hyperparameters;
  expect(job).toMatchObject({ hyperparameters, method: { type: 'dpo', dpo } });
  expect((await jobs().retrieve(job.id)).method).toEqual({ type: 'dpo', dpo });
  const { run_id, model_id } = job as unknown as { run_id: string; model_id: string };
  const { parameters } = await runOf(model_id);
  expect(parameters).toMatchObject({
    ...{ objective: 'dpo', beta: 0.2, learning_rate: 1e-4, rejected_column: 'non_preferred_output' },
    lora_target_modules: expect.not.arrayContaining(['lm_head']),
  });
  await request(runContract.cancelRun, { params: { runId: run_id } }, { as: user });
  await ended(model_id);
  const chosenForIt = await jobs().create({
    ...{ model: 'tiny base', training_file },
    method: { type: 'dpo', dpo: { hyperparameters: { beta: 'auto' } } },
  });
  expect(chosenForIt.method?.dpo?.hyperparameters).toEqual({
    ...{ beta: 0.1, n_epochs: 3, batch_size: 4, learning_rate_multiplier: 1 },
  });
  await jobs().cancel(chosenForIt.id);
  await ended((chosenForIt as unknown as { model_id: string }).model_id);
});

test("a job trains rated answers with KTO, although OpenAI's library does not know this method", async () => {
  const format = {
    format: 'feedback',
    ...{ input_column: 'prompt', output_column: 'completion' },
    ...{ rejected_column: null, label_column: 'label', system_column: null },
  } as const;
  machine.data = { ...goodData, format, tied_embeddings: false };
  machine.script = idleUntilStopped;
  const kto = { hyperparameters: { beta: 0.3 } };
  const create = { model: 'tiny base', training_file: await uploadRows(), method: { type: 'kto', kto } };
  const job = await jobs().create(create as never);
  const hyperparameters = { n_epochs: 3, batch_size: 4, learning_rate_multiplier: 1, beta: 0.3 };
  expect(job.method).toEqual({ type: 'kto', kto: { hyperparameters } });
  const { run_id, model_id } = job as unknown as { run_id: string; model_id: string };
  const { parameters } = await runOf(model_id);
  expect(parameters).toMatchObject({
    ...{ objective: 'kto', label_column: 'label', batch_size: 4, gradient_accumulation_steps: 1 },
  });
  await request(runContract.cancelRun, { params: { runId: run_id } }, { as: user });
  await ended(model_id);
  machine.data = goodData;
});

const graded = (reference: string) => ({
  ...{ type: 'string_check' as const, name: 'correct', operation: 'eq' as const },
  ...{ input: '{{sample.output_text}}', reference },
});

const promptsData: typeof goodData = {
  ...{ ...goodData, tied_embeddings: false },
  format: {
    ...({ format: 'prompts', input_column: 'messages', output_column: 'answer' } as const),
    ...{ rejected_column: null, label_column: null, system_column: null },
  },
};

test('a job converts its grader to rewards, and returns the grader as requested', async () => {
  machine.data = promptsData;
  machine.script = idleUntilStopped;
  const graders = { correct: graded('{{item.answer}}'), polite: { ...graded('please'), operation: 'ilike' } };
  const grader = { type: 'multi', name: 'both', graders, calculate_output: '0.8 * correct + 0.2 * polite' };
  const schema = { type: 'object' };
  const response_format = { type: 'json_schema', json_schema: { name: 'bread', schema, strict: true } };
  const asked = { n_epochs: 2, batch_size: 8, compute_multiplier: 0.5, eval_interval: 5, eval_samples: 1 };
  const job = await jobs().create({
    ...{ model: 'tiny base', training_file: await uploadRows() },
    method: { type: 'reinforcement', reinforcement: { grader, response_format, hyperparameters: asked } },
  } as never);
  const hyperparameters = { ...asked, learning_rate_multiplier: 1, reasoning_effort: 'default' };
  const method = { type: 'reinforcement', reinforcement: { grader, response_format, hyperparameters } };
  expect(job.method).toEqual(method);
  expect((await jobs().retrieve(job.id)).method).toEqual(method);
  const { run_id, model_id } = job as unknown as { run_id: string; model_id: string };
  expect(machine.read?.spec.data).toMatchObject({
    ...{ format: 'prompts', input_column: 'messages', output_column: 'answer' },
  });
  expect((await runOf(model_id)).parameters).toMatchObject({
    ...{ objective: 'grpo', generations: 4, eval_steps: 5, batch_size: 8, learning_rate: 1e-4 },
    rewards: [
      { type: 'string_check', operation: 'eq', weight: 0.8 },
      { type: 'string_check', operation: 'ilike', reference: 'please', weight: 0.2 },
      { type: 'json_schema', json_schema: schema, weight: 1 },
    ],
  });
  const { data } = await jobs().listEvents(job.id);
  expect(data.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('Answers are not held to response_format'),
  );
  await request(runContract.cancelRun, { params: { runId: run_id } }, { as: user });
  await ended(model_id);
  machine.data = goodData;
});

test('refuses by field a grader without equivalent rewards, and options that GRPO does not support', async () => {
  const training_file = await uploadRows();
  const before = await balance();
  const refusedBy = (reinforcement: object, param: string, message: string) =>
    expect(
      jobs().create({
        ...{ model: 'tiny base', training_file },
        method: { type: 'reinforcement', reinforcement: { grader: graded('rye'), ...reinforcement } },
      } as never),
    ).rejects.toMatchObject({
      ...{ status: 400, param: `method.reinforcement.${param}`, message: expect.stringContaining(message) },
    });
  const python = { type: 'python', name: 'mine', source: 'def grade(): pass' };
  await refusedBy({ grader: python }, 'grader.type', 'no code of yours is run');
  for (const type of ['score_model', 'label_model'])
    await refusedBy({ grader: { type, name: 'judge' } }, 'grader.type', 'which asks a model');
  await refusedBy({ grader: { type: 'text_similarity' } }, 'grader.type', 'pays parts of a reward');
  await refusedBy({ grader: { type: 'other' } }, 'grader.type', "must be 'string_check' or 'multi'");
  const multi = { type: 'multi', name: 'all', graders: { mine: python }, calculate_output: 'mine' };
  await refusedBy({ grader: multi }, 'grader.graders.mine.type', 'no code of yours is run');
  await refusedBy({ grader: { ...graded('rye'), operation: 'is' } }, 'grader.operation', 'one of eq, ne');
  await refusedBy({ grader: graded('{{item.a}} {{item.b}}') }, 'grader.reference', 'one field of the row');
  const asked = (hyperparameters: object) => ({ hyperparameters });
  await refusedBy(asked({ compute_multiplier: 0.3 }), 'hyperparameters.compute_multiplier', 'multiple of');
  await refusedBy(asked({ compute_multiplier: 9 }), 'hyperparameters.compute_multiplier', 'to 8');
  await refusedBy(asked({ eval_samples: 4 }), 'hyperparameters.eval_samples', 'answered once');
  await refusedBy(asked({ reasoning_effort: 'low' }), 'hyperparameters.reasoning_effort', 'no levels');
  await refusedBy(asked({ beta: 1 }), 'hyperparameters.beta', 'does not know it');
  await refusedBy({ response_format: { type: 'text' } }, 'response_format.type', "must be 'json_schema'");
  const reward_errors = ['Reward 2 (JSON Schema): the schema cannot be used'];
  machine.data = { ...promptsData, reward_errors };
  const json_schema = { name: 'bread', schema: { type: 'objekt' } };
  await refusedBy(
    { response_format: { type: 'json_schema', json_schema } },
    'response_format',
    'cannot be used',
  );
  machine.data = goodData;
  const bare = { model: 'tiny base', training_file, method: { type: 'reinforcement' as const } };
  await expect(jobs().create(bare)).rejects.toMatchObject({ param: 'method.reinforcement' });
  expect(await balance()).toEqual(before);
});

test('lists events newest first in pages', async () => {
  machine.script = trainFor(20);
  const job = await jobs().create({ model: baseId, training_file: await uploadRows() });
  const { model_id: modelId } = job as unknown as { model_id: string };
  await ended(modelId);
  const { fine_tuned_model: name } = await jobs().retrieve(job.id);
  const { data } = await jobs().listEvents(job.id);
  expect(data.map(({ message }) => message)).toEqual([
    `Call it as the model '${name}'. Its first call deploys it, at 1.25 BGL an hour on the CPU or 40 on a GPU, and lets it sleep after 60 minutes without one`,
    expect.stringMatching(
      /^Completed\. Charged: 0\.0\d+ BGL \(quote: 0\.0\d+ BGL, spending limit: 0\.\d+ BGL\)\.$/,
    ),
    'Step 1/2: training loss=1.50',
    'Fine-tuning job started',
    expect.stringMatching(
      /^Validated the training file\. Quote: 0\.0\d+ BGL\. Spending limit: 0\.\d+ BGL, the most that is charged$/,
    ),
    `Created fine-tuning job: ${job.id}`,
  ]);
  expect(data[2]).toMatchObject({ type: 'metrics', data: { step: 1, total_steps: 2, train_loss: 1.5 } });
  const paged = await Array.fromAsync(jobs().listEvents(job.id, { limit: 2 }));
  expect(paged).toEqual(data);
  await expect(jobs().listEvents(job.id, { after: 'ftevent-1' })).rejects.toMatchObject({ param: 'after' });
});

test('jobs and runs of the web app are in both lists, and can be cancelled and resumed in both APIs', async () => {
  const { modelId, launch } = await begin(idleUntilStopped);
  const id = `ftjob-${launch.workloadId.replaceAll('-', '')}`;
  const all = (await request(runContract.listRuns, { query: { limit: 100 } }, { as: user })).runs;
  const listed = await Array.fromAsync(jobs().list({ limit: 2 }));
  expect(listed.map((job) => (job as unknown as { run_id: string }).run_id)).toEqual(
    all.map((run) => run.run_id),
  );
  expect(listed[0]).toMatchObject({ id, status: 'running', metadata: null });
  expect(listed[0]?.estimated_finish).toBe(Math.floor(clock.now().getTime() / 1000 + 1));
  await jobs().cancel(id);
  await ended(modelId);
  expect(await jobs().retrieve(id)).toMatchObject({ status: 'cancelled', error: null });
  expect((await balance()).held).toBe('0');
  await jobs().resume(id);
  expect((await runOf(modelId)).ended_at).toBeNull();
  expect((await balance()).held).not.toBe('0');
  await request(runContract.cancelRun, { params: { runId: launch.workloadId } }, { as: user });
  await ended(modelId);
  expect((await jobs().retrieve(id)).status).toBe('cancelled');
  await expect(jobs().pause(id)).rejects.toMatchObject({
    ...{ status: 404, message: expect.stringContaining('To pause a job, cancel it') },
  });
});

test('a failed job costs nothing and reports why', async () => {
  const before = await balance();
  const { launch, modelId } = await begin(async (one) => {
    await workload(one).report({ type: 'failed', message: 'The memory is not enough.' });
    return 1;
  });
  await ended(modelId);
  expect(await jobs().retrieve(`ftjob-${launch.workloadId.replaceAll('-', '')}`)).toMatchObject({
    ...{ status: 'failed', fine_tuned_model: null, result_files: [] },
    error: { code: 'run_failed', message: expect.stringContaining('The memory is not enough.'), param: null },
  });
  expect(await balance()).toMatchObject(before);
});

test('refuses unsupported jobs by field and holds nothing', async () => {
  const file = await uploadRows();
  const good = { model: 'tiny base', training_file: file };
  const before = await balance();
  const refusedBy = async (body: object, param: string, message: string, status = 400) =>
    expect(jobs().create({ ...good, ...body })).rejects.toMatchObject({
      ...{ status, param, message: expect.stringContaining(message) },
    });
  await refusedBy({ model: 'gpt-5' }, 'model', "There is no model 'gpt-5' to fine-tune", 404);
  await refusedBy({ training_file: `file-${'0'.repeat(32)}` }, 'training_file', 'There is no file', 404);
  await refusedBy({ training_file: 'rows' }, 'training_file', 'No file has this id', 404);
  await refusedBy({ method: { type: 'ppo' } }, 'method.type', "must be 'supervised', 'dpo', 'reinforcement'");
  const dpo = (hyperparameters: object) => ({ method: { type: 'dpo', dpo: { hyperparameters } } });
  await refusedBy(
    dpo({ beta: 0 }),
    'method.dpo.hyperparameters.beta',
    "beta must be 'auto' or a number from",
  );
  await refusedBy(dpo({ n_epochs: 51 }), 'method.dpo.hyperparameters.n_epochs', 'must be');
  await refusedBy(dpo({ gamma: 1 }), 'method.dpo.hyperparameters.gamma', 'does not know it');
  await refusedBy(dpo({}), 'training_file', 'DPO needs preferences');
  await refusedBy({ hyperparameters: { n_epochs: 0 } }, 'hyperparameters.n_epochs', 'must be');
  await refusedBy({ hyperparameters: { beta: 1 } }, 'hyperparameters.beta', 'does not know it');
  const wandb = { integrations: [{ type: 'wandb', wandb: { project: 'a' } }] };
  await refusedBy(wandb, 'integrations', 'integrations needs an API key of Weights & Biases: save one under');
  await refusedBy({ integrations: [{ type: 'mlflow' }] }, 'integrations.0.type', "must be 'wandb'");
  await refusedBy({ suffix: 'a'.repeat(65) }, 'suffix', 'at most 64 characters');
  machine.data = { ...goodData, critical_errors: ['Row 1 has no answer'] };
  await refusedBy({}, 'training_file', 'Row 1 has no answer');
  machine.data = goodData;
  const stranger = await server.signUp();
  await expect(jobs(stranger).create(good)).rejects.toMatchObject({ status: 404, param: 'training_file' });
  const tuned = (await jobs().list()).data.find(({ fine_tuned_model: name }) => name !== null);
  await refusedBy({ model: tuned?.fine_tuned_model }, 'model', 'is itself a fine-tune');
  expect(await balance()).toEqual(before);
});

test('reports the required and the available amount if the balance is too low', async () => {
  machine.data = { ...goodData, train_tokens: 4_000_000_000, train_padded_tokens: 4_000_000_000 };
  const before = await balance();
  const call = jobs().create({ model: 'tiny base', training_file: await uploadRows() });
  await expect(call).rejects.toMatchObject({
    ...{ status: 402, code: 'insufficient_funds' },
    error: { required_amount: expect.any(String), available_amount: before.balance },
  });
  expect(await balance()).toEqual(before);
});

test('the same Idempotency-Key starts one job', async () => {
  const body = { model: 'tiny base', training_file: await uploadRows() };
  const headers = { 'Idempotency-Key': 'one loaf' };
  const first = await jobs().create(body, { headers });
  expect((await jobs().create(body, { headers })).id).toBe(first.id);
  await jobs().cancel(first.id);
  const { model_id: modelId } = first as unknown as { model_id: string };
  await ended(modelId);
  expect((await request(getAsset, { params: { id: modelId } }, { as: user })).title).toBe(
    'tiny base fine-tune',
  );
});
