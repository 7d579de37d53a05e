import { deleteAsset, getAsset, getModelReadiness } from '@bakehouse/contract/assets';
import { type ExportFormat, listExports, startExport } from '@bakehouse/contract/exports';
import { cancelRun, getRun, resumeRun } from '@bakehouse/contract/runs';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Launch } from '../../../engine/drivers/driver.ts';
import { idleUntilStopped, type Script } from '../../../engine/drivers/fake/fake-driver.ts';
import type { WorkloadSpec } from '../../../engine/model/workload.ts';
import { emptyGguf, emptySafetensors } from '../testing/test-run.ts';
import { trainingServer } from '../testing/training-server.ts';
import { micro, PRICE_MICRO_PER_S, step } from '../testing/workload-calls.ts';

/* Tests exports, from training a fine-tune to deploying the exported model. */

const place = await trainingServer();
const { server, request, user, machine, clock, workload, create, start, ended, runOf, balance } = place;
const { db } = server.services;

const answers = {
  task: 'answer' as const,
  rows: [{ question: 'Which bread?', earlier_turns: 0, expected: 'Rye.', base: 'None.', tuned: 'Rye.' }],
  skipped: null,
};

/** Simulates a training that delivers the same files as the runtime. */
const trains: Script = async (launch) => {
  const { report, put } = workload(launch);
  await report({ type: 'phase', phase: 'training' }, step(0));
  const names = ['adapter_config.json', 'adapter_model.safetensors', 'adapter.gguf', 'tokenizer.json'];
  const files = [];
  for (const name of names) files.push(await put(name, `{"of":"${name}"}`));
  await report({ type: 'held_out_answers', ...answers });
  await report(step(2), { type: 'result', files, summary: {} });
  return 0;
};

/** Simulates a merge of 10 seconds that delivers a GGUF. */
const merges: Script = async (launch) => {
  const { report, put } = workload(launch);
  await report({ type: 'phase', phase: 'merging' }, step(0));
  clock.advance({ seconds: 10 });
  await report(step(2), { type: 'phase', phase: 'comparing answers', counted: false });
  const files = [
    await put('my-model-Q8_0.gguf', emptyGguf().toString('latin1')),
    await put('Modelfile', 'FROM ./my-model-Q8_0.gguf\n'),
  ];
  await report({ type: 'result', files, summary: { prompts: 1, equal_answers: 1 } });
  return 0;
};

/** Simulates a full fine-tune that delivers a whole model. */
const trainsAll: Script = async (launch) => {
  const { report, put } = workload(launch);
  await report({ type: 'phase', phase: 'training' }, step(0));
  const files = [
    await put('config.json', '{"model_type":"llama"}'),
    await put('tokenizer.json', '{}'),
    await put('model.safetensors', emptySafetensors().toString('latin1')),
    await put('model-F16.gguf', emptyGguf().toString('latin1')),
  ];
  await report({ type: 'held_out_answers', ...answers });
  await report(step(2), { type: 'result', files, summary: {} });
  return 0;
};

/** Creates a fine-tune of a base that has these files besides its configuration. */
async function fineTuned(
  files: Record<string, string | Buffer> = { 'base-F16.gguf': emptyGguf() },
  script: Script = trains,
) {
  const base = await create(user, 'MODEL', 'tiny base', {
    'config.json': '{"model_type":"llama"}',
    'tokenizer.json': '{}',
    'generation_config.json': '{}',
    'model.safetensors': emptySafetensors(),
    ...files,
  });
  machine.script = script;
  const adaptation = script === trainsAll ? ('full' as const) : ('lora' as const);
  const modelId = await start({ payload: { base_model: base, adaptation } });
  await ended(modelId);
  machine.script = idleUntilStopped;
  return { base, modelId };
}

const begin = (id: string, format: ExportFormat, cost_max?: string) =>
  request(startExport, { params: { id }, body: { format, cost_max } }, { as: user });

test('a fine-tune is quoted in every format, merged, charged for its time, and deployable', async () => {
  const { modelId } = await fineTuned();
  const { exports } = await request(listExports, { params: { id: modelId } }, { as: user });
  expect(exports.map(({ format, obstacle }) => [format, obstacle])).toEqual([
    ['safetensors', null],
    ['gguf_f16', null],
    ['gguf_q8_0', null],
  ]);
  const before = await balance();
  let launch: Launch | undefined;
  machine.script = (launched, process) => {
    launch = launched;
    return merges(launched, process);
  };
  const begun = await begin(modelId, 'gguf_q8_0', exports[2]?.quote.total);
  const { rows } = await sql`
    select 1 from audit_log where action = ${'run.started'} and detail->>'run_id' = ${begun.run_id}`.execute(
    db,
  );
  expect(rows).toHaveLength(1);
  const run = await request(getRun, { params: { runId: begun.run_id } }, { as: user });
  expect(run).toMatchObject({
    ...{ kind: 'export', title: 'my model (GGUF Q8_0)', parameters: { format: 'gguf_q8_0' } },
    base_model: { dataset_id: modelId },
    quote: { total: exports[2]?.quote.total },
    // The quote that the web app shows.
    ceiling: exports[2]?.quote.total,
  });
  await ended(begun.model_id);
  const over = await runOf(begun.model_id);
  expect(over).toMatchObject({ state: 'completed', summary: { prompts: 1, equal_answers: 1 } });
  const chargedMicro = micro(over.charged);
  expect(chargedMicro).toBeGreaterThan(9 * PRICE_MICRO_PER_S);
  expect(chargedMicro).toBeLessThan(11 * PRICE_MICRO_PER_S);
  const after = await balance();
  expect(micro(before.balance) - micro(after.balance)).toBe(chargedMicro);
  expect(launch?.spec).toMatchObject({
    ...{ kind: 'export', format: 'gguf', quantization: 'Q8_0', base_model_file: 'base-F16.gguf' },
    ...{ file_name: 'my-model-Q8_0', prompts: ['Which bread?'] },
  });
  expect(inputsOf(launch?.spec)).toEqual({
    base_model: ['base-F16.gguf', 'config.json', 'generation_config.json'],
    adapter: ['adapter_config.json', 'adapter_model.safetensors', 'tokenizer.json'],
  });
  const made = await request(getAsset, { params: { id: begun.model_id } }, { as: user });
  expect(made).toMatchObject({ title: 'my model (GGUF Q8_0)', lineage: null, file_count: 2 });
  const ready = await request(getModelReadiness, { params: { id: begun.model_id } }, { as: user });
  expect(ready.deploy).toBeNull();
});

function inputsOf(spec: WorkloadSpec | undefined) {
  return Object.fromEntries(
    (spec?.inputs ?? []).map(({ name, files }) => [name, files.map(({ path }) => path).sort()]),
  );
}

test('an export cancelled before its first step costs nothing', async () => {
  const { modelId } = await fineTuned();
  const before = await balance();
  const { run_id: runId, model_id: exported } = await begin(modelId, 'safetensors');
  expect(micro((await balance()).available)).toBeLessThan(micro(before.available));
  await request(cancelRun, { params: { runId } }, { as: user });
  await ended(exported);
  expect(await runOf(exported)).toMatchObject({ state: 'cancelled', charged: '0' });
  expect(await balance()).toEqual(before);
});

test('an export that is cancelled midway produces and costs nothing, and cannot be resumed', async () => {
  const { base, modelId } = await fineTuned();
  const before = await balance();
  const underWay = Promise.withResolvers<void>();
  machine.script = async (launch, process) => {
    const { report } = workload(launch);
    await report({ type: 'phase', phase: 'merging' }, step(0));
    clock.advance({ seconds: 10 });
    await report(step(1));
    underWay.resolve();
    return idleUntilStopped(launch, process);
  };
  const { run_id: runId, model_id: exported } = await begin(modelId, 'safetensors');
  await server.app.engine.pass();
  await underWay.promise;
  for (const id of [base, modelId])
    await expect(request(deleteAsset, { params: { id } }, { as: user })).rejects.toThrow(
      "The run of 'my model (merged)' uses it",
    );
  await request(cancelRun, { params: { runId } }, { as: user });
  await ended(exported);
  expect(await runOf(exported)).toMatchObject({ state: 'cancelled', charged: '0', resume_hold: null });
  expect(await balance()).toEqual(before);
  await expect(request(resumeRun, { params: { runId }, body: {} }, { as: user })).rejects.toThrow(
    'An export cannot be resumed. Start a new one',
  );
});

test('a fine-tune whose base has no GGUF can only be exported as safetensors; the other formats give the reason', async () => {
  const { modelId } = await fineTuned({});
  const { exports } = await request(listExports, { params: { id: modelId } }, { as: user });
  const lack = 'tiny base has no GGUF file to merge into, and safetensors are not converted to GGUF here';
  expect(exports.map(({ obstacle }) => obstacle)).toEqual([null, lack, lack]);
  await expect(begin(modelId, 'gguf_f16')).rejects.toThrow(lack);
});

test('refuses other models, and fine-tunes without a base, by field and holds nothing', async () => {
  const { base, modelId } = await fineTuned();
  const before = await balance();
  const refused = async (id: string, message: RegExp) => {
    const answer = await fetch(`${server.url}/api/v1/asset/${id}/exports`, {
      method: 'POST',
      headers: { 'x-api-key': user.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ format: 'safetensors' }),
    });
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: { message: string; param: string } };
    expect(error.param).toBe('id');
    expect(error.message).toMatch(message);
    const offered = await request(listExports, { params: { id } }, { as: user });
    expect(offered).toEqual({ obstacle: error.message, exports: [] });
  };
  await refused(base, /^tiny base is not a fine-tune/);
  await sql`update runs set kind = 'pictures' where model_asset_id = ${modelId}`.execute(db);
  await refused(modelId, /is a LoRA for pictures/);
  await sql`update runs set kind = 'text' where model_asset_id = ${modelId}`.execute(db);
  await sql`update assets set deleted_at = now() where id = ${base}`.execute(db);
  await refused(modelId, /^tiny base, which my model was trained on, was deleted/);
  await expect(begin(modelId, 'onnx' as ExportFormat)).rejects.toThrow('format must be one of');
  expect(await balance()).toEqual(before);
});

test('refuses to start above the quoted price, and reports the new price', async () => {
  const { modelId } = await fineTuned();
  await expect(begin(modelId, 'gguf_f16', '0.000001')).rejects.toThrow('this export now costs');
});

test('a full fine-tune is exported from its own GGUF without a merge', async () => {
  const { base, modelId } = await fineTuned({}, trainsAll);
  // Exporting a full fine-tune does not need its base, so delete it.
  await sql`update assets set deleted_at = now() where id = ${base}`.execute(db);
  const { exports } = await request(listExports, { params: { id: modelId } }, { as: user });
  expect(exports.map(({ obstacle }) => obstacle)).toEqual([
    'my model is already a whole model: download its files',
    null,
    null,
  ]);
  let launch: Launch | undefined;
  machine.script = (launched, process) => {
    launch = launched;
    return merges(launched, process);
  };
  const begun = await begin(modelId, 'gguf_q8_0');
  await ended(begun.model_id);
  expect(launch?.spec).toMatchObject({ base_model_file: 'model-F16.gguf', prompts: ['Which bread?'] });
  expect(inputsOf(launch?.spec)).toEqual({ base_model: ['config.json', 'model-F16.gguf', 'tokenizer.json'] });
  const ready = await request(getModelReadiness, { params: { id: modelId } }, { as: user });
  expect(ready.deploy).toBeNull();
});
