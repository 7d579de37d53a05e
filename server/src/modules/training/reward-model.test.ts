import { getModelReadiness } from '@bakehouse/contract/assets';
import { listModels } from '@bakehouse/contract/chat';
import { deployVllm } from '@bakehouse/contract/deployments/text';
import { listExports, startExport } from '@bakehouse/contract/exports';
import { toFlatId } from '@bakehouse/contract/fields/flat-id';
import { usualTargetModules } from '@bakehouse/contract/fine-tune-numbers';
import { getFineTuningJob } from '@bakehouse/contract/fine-tuning-jobs';
import { expect, test } from 'vitest';
import type { Script } from '../../engine/drivers/fake/fake-driver.ts';
import { goodData } from './testing/test-run.ts';
import { trainingServer } from './testing/training-server.ts';
import { step } from './testing/workload-calls.ts';

/* Reward models: how they are trained, and what they cannot be used for. */

const { machine, request, user, balance, start, runOf, ended, begin, workload } = await trainingServer();

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
