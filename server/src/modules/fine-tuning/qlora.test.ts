import { cancelRun } from '@bakehouse/contract/runs';
import { expect, test } from 'vitest';
import { idleUntilStopped } from '../../engine/drivers/fake/fake-driver.ts';
import { listed } from '../../engine/testing/test-gpus.ts';
import { trainingServer } from './testing/training-server.ts';

const H100 = 'NVIDIA_H100_80GB';
const { request, user, start, runOf, balance, ended, begin } = await trainingServer([listed(H100, [0, 1])]);
const qlora = { adaptation: 'qlora', accelerator_type: H100 } as const;

test('QLoRA loads the base in 4 bits, without an adapter on its output layer', async () => {
  const trained = async (payload: object) => {
    const { modelId, launch } = await begin(idleUntilStopped, {
      payload: { accelerator_type: H100, ...payload },
    });
    const run = await runOf(modelId);
    await request(cancelRun, { params: { runId: run.run_id } }, { as: user });
    await ended(modelId);
    return { run, spec: launch.spec };
  };
  const lora = await trained({});
  const { run, spec } = await trained(qlora);
  const head = ['lm_head'];
  expect(lora.spec).toMatchObject({
    parameters: { load_in_4bit: false, lora: { target_modules: expect.arrayContaining(head) } },
  });
  expect(spec).toMatchObject({
    device: 'cuda',
    parameters: { load_in_4bit: true, lora: { r: 8, target_modules: expect.not.arrayContaining(head) } },
  });
  expect(run.parameters).toMatchObject({ adaptation: 'qlora', lora_r: 8, use_dora: false });
  expect(Number(run.quote.total)).toBeGreaterThan(Number(lora.run.quote.total));
});

test.each([
  [{ use_dora: true }, 'use_dora', 'DoRA is merged into weights that QLoRA does not train on: switch it off'],
  [
    { lora_target_modules: ['q_proj' as const, 'lm_head' as const] },
    'lora_target_modules',
    'lm_head cannot be trained with QLoRA: leave it out',
  ],
  [{ accelerator_count: 2 as const }, 'accelerator_count', 'QLoRA trains on one GPU: choose 1'],
])('refuses %j with QLoRA by field and holds nothing', async (more, name, message) => {
  const before = await balance();
  await expect(start({ payload: { ...qlora, ...more } })).rejects.toMatchObject({
    status: 400,
    body: { error: { message, param: `fine_tune_payload.${name}` } },
  });
  expect(await balance()).toEqual(before);
});
