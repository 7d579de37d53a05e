import { randomUUID } from 'node:crypto';
import { deleteAsset, getAsset, getModelReadiness } from '@bakehouse/contract/assets';
import { listModels } from '@bakehouse/contract/chat';
import { deployVllm } from '@bakehouse/contract/deployments/text';
import { listExports, startExport } from '@bakehouse/contract/exports';
import { toFlatId } from '@bakehouse/contract/fields/flat-id';
import { usualTargetModules } from '@bakehouse/contract/fine-tune-numbers';
import { getFineTuningJob } from '@bakehouse/contract/fine-tuning-jobs';
import { cancelRun, resumeRun } from '@bakehouse/contract/runs';
import { expect, test } from 'vitest';
import { idleUntilStopped, type Script } from '../../engine/drivers/fake/fake-driver.ts';
import { goodData } from './testing/test-run.ts';
import { trainingServer } from './testing/training-server.ts';
import { step } from './testing/workload-calls.ts';

/* Reward models: how they are trained, and what they cannot be used for. */

const { machine, request, user, balance, start, runOf, ended, begin, workload, create, baseId } =
  await trainingServer();

const columns = { input_column: 'prompt', output_column: 'chosen', rejected_column: 'rejected' };
const asked = { ...columns, objective: 'reward' as const };
const format = { format: 'preference', ...columns, label_column: null, system_column: null } as const;
machine.data = { ...goodData, format, tied_embeddings: false };

const trains: Script = async (launch) => {
  const { report, put } = workload(launch);
  const files = [
    await put('adapter_config.json', '{"r":8,"task_type":"SEQ_CLS","modules_to_save":["score"]}'),
    await put('adapter_model.safetensors', '{}'),
    await put('tokenizer.json', '{}'),
  ];
  await report(step(2), { type: 'result', files, summary: { eval_reward_accuracy: 0.95 } });
  return 0;
};

test('what cannot be had with it is refused by its field, and nothing is held', async () => {
  const before = await balance();
  for (const [sent, param, message] of [
    [{ adaptation: 'full' }, 'adaptation', 'Reward modeling trains an adapter and a head: choose lora'],
    [{ packing: true }, 'packing', 'Packing is for SFT: switch it off with Reward modeling'],
    [{ data_format: 'feedback', rejected_column: null, label_column: 'ok' }, 'objective', 'preferences'],
    [{ lora_target_modules: ['lm_head'] }, 'lora_target_modules', 'lm_head cannot be trained'],
    [{ neftune_noise_alpha: 5 }, 'neftune_noise_alpha', 'NEFTune noise is for SFT'],
  ] as const) {
    const payload = { ...asked, ...sent } as NonNullable<Parameters<typeof start>[0]>['payload'];
    await expect(start({ payload })).rejects.toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining(message), param: `fine_tune_payload.${param}` } },
    });
  }
  expect(await balance()).toEqual(before);
});

test('it is trained on preferences, and is no model to deploy, to export, to chat with or to fine-tune', async () => {
  const { modelId, launch } = await begin(trains, { payload: asked });
  await ended(modelId);
  const modules = usualTargetModules('reward');
  expect(launch.spec).toMatchObject({
    parameters: { objective: 'reward', lora: { target_modules: modules } },
  });
  const run = await runOf(modelId);
  expect(run).toMatchObject({ state: 'completed', parameters: { objective: 'reward' } });

  const sentence = /^my model is a reward model: it scores answers and writes none\./;
  const said = expect.stringMatching(sentence);
  const as = { as: user };
  const params = { id: modelId };
  expect(await request(getModelReadiness, { params }, as)).toMatchObject({ deploy: said, train: said });
  await expect(
    request(deployVllm, { body: { model_id: modelId, user_id: user.userId } }, as),
  ).rejects.toMatchObject({ body: { error: { message: said } } });
  expect(await request(listExports, { params }, as)).toMatchObject({ obstacle: said, exports: [] });
  await expect(request(startExport, { params, body: { format: 'gguf_f16' } }, as)).rejects.toMatchObject({
    status: 400,
    body: { error: { message: said, param: 'id' } },
  });
  await expect(start({ payload: { base_model: modelId } })).rejects.toMatchObject({
    status: 400,
    body: { error: { message: said, param: 'fine_tune_payload.base_model' } },
  });

  const { data } = await request(listModels, {}, as);
  expect(data.filter(({ id }) => id.startsWith('ft:'))).toEqual([]);
  const jobId = toFlatId('ftjob-', run.run_id);
  const job = await request(getFineTuningJob, { params: { fine_tuning_job_id: jobId } }, as);
  expect(job).toMatchObject({ status: 'succeeded', fine_tuned_model: null, method: { type: 'reward' } });
});

test('it pays the answers of GRPO: its files and those of its base are inputs, and it stays meanwhile', async () => {
  const { modelId } = await begin(trains, { payload: asked, title: 'taste' });
  await ended(modelId);
  const prompts = { input_column: 'prompt', output_column: null, objective: 'grpo' as const };
  const ofPrompts = { ...format, format: 'prompts', output_column: '', rejected_column: null } as const;
  machine.data = { ...goodData, format: ofPrompts, tied_embeddings: false };
  const pattern = { type: 'pattern', pattern: '^Yes', weight: 1 } as const;
  const model = { type: 'model', model_id: modelId, weight: 0.5 } as const;
  const { modelId: policyId, launch } = await begin(idleUntilStopped, {
    payload: { ...prompts, rewards: [pattern, model] },
  });
  expect(launch.spec).toMatchObject({
    parameters: { rewards: [pattern, { type: 'model', model: 'reward_2', weight: 0.5 }] },
  });
  const files = Object.fromEntries(
    launch.spec.inputs.map(({ name, files: its }) => [name, its.map(({ path }) => path).sort()]),
  );
  expect(files).toMatchObject({
    reward_2: ['adapter_config.json', 'adapter_model.safetensors', 'tokenizer.json'],
    reward_2_base: files.base_model,
  });
  expect(machine.read?.rewardModels?.map(({ name }) => name)).toEqual(['reward_2', 'reward_2_base']);
  const run = await runOf(policyId);
  expect(run.parameters).toMatchObject({ rewards: [pattern, model] });
  await expect(request(deleteAsset, { params: { id: modelId } }, { as: user })).rejects.toMatchObject({
    body: { error: { message: expect.stringContaining("The run of 'my model' uses it") } },
  });
  await request(cancelRun, { params: { runId: run.run_id } }, { as: user });
  await ended(policyId);

  const refused = async (model_id: string, message: string) => {
    const payload = { ...prompts, rewards: [pattern, { ...model, model_id }] };
    await expect(start({ payload })).rejects.toMatchObject({
      status: 400,
      body: {
        error: { message: `Reward 2 (reward model): ${message}`, param: 'fine_tune_payload.rewards' },
      },
    });
  };
  await refused(randomUUID(), 'you have no model of this id');
  const none = 'is no reward model: choose one that was trained with the objective reward';
  const { title } = await request(getAsset, { params: { id: baseId } }, { as: user });
  await refused(baseId, `${title} ${none}`);
  await refused(await create(user, 'MODEL', 'empty', {}), 'empty has no files yet');
  const alone = { 'adapter_config.json': '{"r":8,"task_type":"SEQ_CLS"}' };
  await refused(await create(user, 'MODEL', 'bare', alone), 'bare has no adapter_model.safetensors');

  await request(deleteAsset, { params: { id: modelId } }, { as: user });
  await expect(
    request(resumeRun, { params: { runId: run.run_id }, body: {} }, { as: user }),
  ).rejects.toMatchObject({
    status: 409,
    body: {
      error: {
        message: 'Reward 2 (reward model): you have no model of this id, and the run cannot go on without it',
      },
    },
  });
});
