import { randomUUID } from 'node:crypto';
import { deleteAsset, listAssets, updateAsset } from '@bakehouse/contract/assets';
import { defaultTargetModules } from '@bakehouse/contract/fine-tune-numbers';
import * as training from '@bakehouse/contract/fine-tuning';
import { changePrice } from '@bakehouse/contract/prices';
import * as runContract from '@bakehouse/contract/runs';
import { describe, expect, test } from 'vitest';
import { idleUntilStopped } from '../../engine/drivers/fake/fake-driver.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { signUpOperator } from '../../testing/sign-up-operator.ts';
import { readRevision } from '../assets/read-revision.ts';
import { recordSource } from '../assets/sources/sources.ts';
import { assetCalls } from '../assets/testing/asset-calls.ts';
import { insertModel } from '../deployments/testing/test-models.ts';
import { readSourceNames } from './slowdown.ts';
import { goodData } from './testing/test-run.ts';
import { trainingServer } from './testing/training-server.ts';

const dpoModules = defaultTargetModules('dpo');

const {
  machine,
  server,
  request,
  user,
  datasetId,
  baseId,
  filesOf,
  start,
  runOf,
  balance,
  ended,
  begin,
  trainFor,
} = await trainingServer();

const chosen = { file_name: 'rows.csv', input_column: 'question', output_column: 'answer' };

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

  test('creates nothing if the credits do not suffice', async () => {
    const before = await counts();
    const { available } = await balance();
    machine.data = { ...goodData, train_padded_tokens: 1_000_000_000_000 };
    await expect(start()).rejects.toMatchObject({
      status: 402,
      code: 'insufficient_funds',
      body: { error: { required_amount: expect.any(String), available_amount: available } },
    });
    machine.data = goodData;
    expect(await counts()).toEqual(before);
  });

  test('reads its data in the format that validation detected', async () => {
    const format = {
      format: 'messages',
      input_column: 'chat',
      output_column: '',
      rejected_column: null,
      label_column: null,
      system_column: 'system',
    } as const;
    machine.data = { ...goodData, format };
    const { modelId, launch } = await begin(idleUntilStopped, {
      payload: { input_column: null, output_column: null },
    });
    machine.data = goodData;
    const kept = { input_column: 'chat', output_column: null, system_column: 'system' };
    expect(launch.spec).toMatchObject({ data: { ...kept, format: 'messages' } });
    const run = await runOf(modelId);
    expect(run.parameters).toMatchObject({ ...kept, data_format: 'messages' });
    await request(runContract.cancelRun, { params: { runId: run.run_id } }, { as: user });
    await ended(modelId);
  });

  test('uses DPO if the file has preferences, even if the request does not say so', async () => {
    const columns = { input_column: 'prompt', output_column: 'chosen', rejected_column: 'rejected' };
    const unusedColumns = { label_column: null, system_column: null };
    const format = { format: 'preference', ...columns, ...unusedColumns } as const;
    machine.data = { ...goodData, format, tied_embeddings: false };
    const { modelId, launch } = await begin(idleUntilStopped, {
      payload: { input_column: null, output_column: null, beta: 0.3 },
    });
    const trained = { objective: 'dpo', beta: 0.3, sft_weight: 0, lora: { target_modules: dpoModules } };
    expect(machine.read?.spec).toMatchObject({ parameters: trained });
    expect(launch.spec).toMatchObject({ data: { ...columns, format: 'preference' }, parameters: trained });
    const run = await runOf(modelId);
    expect(run.parameters).toMatchObject({
      ...{ ...columns, data_format: 'preference', objective: 'dpo', beta: 0.3 },
      lora_target_modules: dpoModules,
    });
    await request(runContract.cancelRun, { params: { runId: run.run_id } }, { as: user });
    await ended(modelId);
    const lmHead = start({ payload: { ...columns, lora_target_modules: ['q_proj', 'lm_head'] } });
    await expect(lmHead).rejects.toMatchObject({
      body: {
        error: {
          message: 'lm_head cannot be trained with DPO: leave it out',
          param: 'fine_tune_payload.lora_target_modules',
        },
      },
    });
    machine.data = goodData;
    const sft = start({ payload: { input_column: null, output_column: null, objective: 'dpo' } });
    await expect(sft).rejects.toMatchObject({
      status: 400,
      body: { error: { param: 'fine_tune_payload.objective' } },
    });
  });

  test('uses KTO for rated answers, in batches of several rows', async () => {
    const columns = { input_column: 'prompt', output_column: 'completion', label_column: 'label' };
    const unusedColumns = { rejected_column: null, system_column: null };
    const format = { format: 'feedback', ...columns, ...unusedColumns } as const;
    machine.data = { ...goodData, format, tied_embeddings: false, ratings: { good: 30, bad: 10 } };
    const open = { input_column: null, output_column: null };
    await expect(start({ payload: open })).rejects.toMatchObject({
      body: {
        error: {
          message: 'KTO compares the answers of a batch: its batch size must be at least 2',
          param: 'fine_tune_payload.batch_size',
        },
      },
    });
    const { modelId, launch } = await begin(idleUntilStopped, {
      payload: { ...open, batch_size: 4, undesirable_weight: 3 },
    });
    const weights = { desirable_weight: 1, undesirable_weight: 3 };
    const trained = { objective: 'kto', beta: 0.1, ...weights, lora: { target_modules: dpoModules } };
    expect(machine.read?.spec).toMatchObject({ parameters: trained });
    expect(launch.spec).toMatchObject({ data: { ...columns, format: 'feedback' }, parameters: trained });
    const run = await runOf(modelId);
    expect(run.parameters).toMatchObject({
      ...{ ...columns, data_format: 'feedback', objective: 'kto', ...weights },
    });
    await request(runContract.cancelRun, { params: { runId: run.run_id } }, { as: user });
    await ended(modelId);
    machine.data = goodData;
  });

  test('uses GRPO for prompts, and refuses invalid rewards by field', async () => {
    const columns = { input_column: 'prompt', output_column: 'reference' };
    const unusedColumns = { rejected_column: null, label_column: null, system_column: null };
    const format = { format: 'prompts', ...columns, ...unusedColumns } as const;
    const fault = 'Reward 1 (JSON Schema): the schema cannot be used';
    machine.data = { ...goodData, format, tied_embeddings: false, reward_errors: [fault] };
    const weighed = { type: 'json_schema' as const, weight: 0.5 };
    const rewards = [{ ...weighed, json_schema: { type: 'object' } }];
    const open = { input_column: null, output_column: null, objective: 'grpo' as const };
    const refused = (message: string) => ({
      body: { error: { message, param: 'fine_tune_payload.rewards' } },
    });
    const none = 'GRPO learns from rewards: add at least one';
    await expect(start({ payload: open })).rejects.toMatchObject(refused(none));
    await expect(start({ payload: { ...open, rewards } })).rejects.toMatchObject(refused(fault));
    machine.data = { ...machine.data, reward_errors: [] };
    const { modelId, launch } = await begin(idleUntilStopped, { payload: { ...open, rewards } });
    const trained = { objective: 'grpo', generations: 8, lora: { target_modules: dpoModules } };
    const asText = [{ ...weighed, json_schema: '{"type":"object"}' }];
    expect(machine.read?.spec).toMatchObject({ parameters: { ...trained, rewards: asText } });
    expect(launch.spec).toMatchObject({ data: { ...columns, format: 'prompts' } });
    const run = await runOf(modelId);
    expect(run.parameters).toMatchObject({ ...columns, data_format: 'prompts', rewards });
    await request(runContract.cancelRun, { params: { runId: run.run_id } }, { as: user });
    await ended(modelId);
    machine.data = goodData;
  });

  test("passes the hub names of its sources and the base's licence to the runtime", async () => {
    const { assetId: base_model, revisionId } = await insertModel(server.services, user, 'Loaf', {
      'README.md': '---\nlicense: other\nlicense_name: bakers\n---\n# Loaf\n',
      'config.json': '{}',
    });
    const { db } = server.services;
    const copied = {
      hubUrl: 'https://hub.example',
      repoId: 'ovens/loaf',
      commitId: 'c'.repeat(40),
    };
    await inTransaction(db, (tx) => recordSource(tx, base_model, copied));
    const check = {
      base: await readRevision(db, { assetId: base_model, revisionId, userId: user.userId }),
      dataset: await readRevision(db, { assetId: datasetId, userId: user.userId }),
    };
    const named = () => readSourceNames(assetCalls(server).contextOf(user), check);
    expect(await named()).toMatchObject({ dataset: null, dataset_commit: null });
    const publish = (is_published: boolean) =>
      request(updateAsset, { params: { id: datasetId }, body: { is_published } }, { as: user });
    await publish(true);
    expect(await named()).toEqual({
      base_model: 'ovens/loaf',
      base_model_commit: 'c'.repeat(40),
      dataset: expect.stringMatching(/^ada-1\/[\w-]+$/),
      dataset_commit: expect.stringMatching(/^[0-9a-f]{40}$/),
      license: 'other',
      license_name: 'bakers',
      license_link: null,
    });
    await publish(false);
    const { modelId, launch } = await begin(idleUntilStopped);
    expect(launch.spec).toMatchObject({
      sources: { base_model: null, dataset: null, license: null },
      base_model_title: 'a private model',
      dataset_title: 'a private dataset',
    });
    const run = await runOf(modelId);
    await request(runContract.cancelRun, { params: { runId: run.run_id } }, { as: user });
    await ended(modelId);
  });

  test.each([
    ['without lm_head if it is tied to the input embeddings', true, ['q_proj']],
    ['with lm_head if it is a separate matrix', false, ['q_proj', 'lm_head']],
  ])('shows from the start what is trained: %s', async (_how, tied_embeddings, shown) => {
    machine.data = { ...goodData, tied_embeddings };
    const { modelId, launch } = await begin(idleUntilStopped, {
      payload: { lora_target_modules: ['q_proj', 'lm_head'] },
    });
    machine.data = goodData;
    const run = await runOf(modelId);
    expect(run.parameters).toMatchObject({ lora_target_modules: shown });
    // The runtime itself leaves lm_head out, and says so in the run's log.
    expect(launch.spec).toMatchObject({ parameters: { lora: { target_modules: ['q_proj', 'lm_head'] } } });
    await request(runContract.cancelRun, { params: { runId: run.run_id } }, { as: user });
    await ended(modelId);
  });

  test('is refused for each fault that validation reports', async () => {
    const before = await counts();
    await expect(start({ payload: { input_column: null } })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('Input and output columns are required for non-text files'),
    });
    await expect(start({ payload: { file_name: 'other.csv' } })).rejects.toThrow(
      'Invalid file selection. Please try again.',
    );
    await expect(start({ payload: { base_model: datasetId } })).rejects.toThrow('rows is a dataset');
    const about = (param: string, status = 400) => ({ status, body: { error: { param } } });
    for (const [payload, param] of [
      [{ input_column: null }, 'input_column'],
      [{ output_column: 'question' }, 'output_column'],
      [{ file_name: 'other.csv' }, 'file_name'],
      [{ base_model: datasetId }, 'base_model'],
      [{ asset_id: baseId }, 'asset_id'],
    ] as const)
      await expect(start({ payload })).rejects.toMatchObject(about(`fine_tune_payload.${param}`));
    const gone = { base_model: randomUUID() };
    await expect(start({ payload: gone })).rejects.toMatchObject(about('fine_tune_payload.base_model', 404));
    machine.data = { ...goodData, critical_errors: ['There is no column question.'] };
    await expect(start()).rejects.toMatchObject(about('fine_tune_payload'));
    await expect(start()).rejects.toThrow('There is no column question.');
    machine.data = { ...goodData, memory_bytes: 1e15 };
    await expect(start()).rejects.toThrow(/needs about .* GB of memory, and this machine has/);
    machine.data = goodData;
    expect(await counts()).toEqual(before);
  });

  test.each(['asset_id', 'base_model'] as const)(
    'creates nothing if its %s is deleted at the same time',
    async (source) => {
      const sources = await filesOf(user);
      const before = await counts();
      machine.meanwhile = () => request(deleteAsset, { params: { id: sources[source] } }, { as: user });
      try {
        await expect(start({ payload: sources })).rejects.toMatchObject({ status: 404, code: 'not_found' });
      } finally {
        machine.meanwhile = async () => {};
      }
      const after = await counts();
      expect(after).toEqual([before[0] ? before[0] - 1n : null, ...before.slice(1)]);
    },
  );

  test('twice with one key starts one run', async () => {
    machine.script = trainFor(1);
    const [first, second] = await Promise.all([start({ key: 'once' }), start({ key: 'once' })]);
    expect(second).toBe(first);
    await expect(start({ key: 'once', title: 'other' })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    await ended(first);
    machine.data = { ...goodData, critical_errors: ['The file is gone.'] };
    expect(await start({ key: 'once' })).toBe(first);
    machine.data = goodData;
  });

  test('is refused if the price rose above the quote, and can be retried at the new price', async () => {
    const { cost_estimate } = await request(
      training.validateFineTune,
      { body: { ...chosen, dataset_id: datasetId, model_id: baseId } },
      { as: user },
    );
    const operator = await signUpOperator(server);
    const price = { price_id: 'training:CPU', unit_price: '3600' };
    await request(changePrice, { body: price }, { as: operator });
    const before = await counts();
    const { available } = await balance();
    const startFor = (cost_max: string, slowdown = 1) =>
      start({ key: 'quoted', payload: { cost_max, slowdown } });
    const refusal = await startFor(cost_estimate.quote.total).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      status: 409,
      code: 'conflict',
      body: {
        error: {
          message: expect.stringMatching(/^The price has changed: this run now costs [\d.]+ BGL$/),
          param: 'fine_tune_payload.cost_max',
        },
      },
    });
    expect(await counts()).toEqual(before);
    expect((await balance()).available).toBe(available);

    const [, newPrice = ''] = /costs ([\d.]+) BGL/.exec(String(refusal)) ?? [];
    const modelId = await startFor(newPrice);
    const run = await runOf(modelId);
    expect([run.held, run.quote.total]).toEqual([newPrice, newPrice]);
    expect(run.parameters).not.toHaveProperty('cost_max');
    // The client repeats the call because it got no answer. Price and load have changed again.
    expect(await startFor('0', 2)).toBe(modelId);
    await request(runContract.cancelRun, { params: { runId: run.run_id } }, { as: user });
    await ended(modelId);
    await server.services.db.deleteFrom('price_changes').execute();
  });

  test("from another user's files is refused", async () => {
    const other = await server.signUp('Eve');
    await expect(start({ as: other })).rejects.toMatchObject({ status: 404 });
    await expect(start({ payload: { user_id: other.userId } })).rejects.toMatchObject({ status: 403 });
  });

  test('from files that another user published continues after they become private, without their names', async () => {
    const other = await server.signUp('Fred');
    const publish = async (is_published: boolean) => {
      for (const id of [datasetId, baseId])
        await request(updateAsset, { params: { id }, body: { is_published } }, { as: user });
    };
    await publish(true);
    const modelId = await start({ as: other, payload: { user_id: other.userId } });
    await publish(false);
    await expect(start({ as: other, payload: { user_id: other.userId } })).rejects.toMatchObject({
      status: 404,
    });
    const { runs } = await request(runContract.listRuns, { query: {} }, { as: other });
    expect(runs.map(({ model_id }) => model_id)).toEqual([modelId]);
    await expect(request(deleteAsset, { params: { id: datasetId } }, { as: user })).rejects.toMatchObject({
      status: 409,
      body: {
        error: {
          message:
            'A run of another user uses it. Unpublish it and stop sharing it, so that no more begin: what runs goes on, ' +
            'and you can delete it once that has ended.',
        },
      },
    });
    await request(runContract.cancelRun, { params: { runId: runs[0]?.run_id ?? '' } }, { as: other });
    await ended(modelId, other);
    const resume = { params: { runId: runs[0]?.run_id ?? '' }, body: {} };
    await expect(request(runContract.resumeRun, resume, { as: other })).rejects.toMatchObject({
      status: 409,
    });
  });

  test('prevents the deletion of its inputs until it has ended', async () => {
    const { modelId, launch } = await begin(idleUntilStopped);
    for (const id of [datasetId, baseId, modelId]) {
      await expect(request(deleteAsset, { params: { id } }, { as: user })).rejects.toThrow(
        "The run of 'my model' uses it",
      );
    }
    await request(runContract.cancelRun, { params: { runId: launch.workloadId } }, { as: user });
    await ended(modelId);
    await request(deleteAsset, { params: { id: modelId } }, { as: user });
    const { datasets } = await request(
      listAssets,
      { query: { types: 'MODEL', owner: user.userId } },
      { as: user },
    );
    expect(datasets.map(({ dataset_id }) => dataset_id)).not.toContain(modelId);
    expect(
      await request(runContract.getRun, { params: { runId: launch.workloadId } }, { as: user }),
    ).toMatchObject({ state: 'cancelled' });
  });
});
