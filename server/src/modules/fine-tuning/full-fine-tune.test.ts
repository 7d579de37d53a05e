import { cancelRun } from '@bakehouse/contract/runs';
import { expect, test } from 'vitest';
import { idleUntilStopped } from '../../engine/drivers/fake/fake-driver.ts';
import { emptyGguf, emptySafetensors, goodData } from './testing/test-run.ts';
import { trainingServer } from './testing/training-server.ts';

const { machine, request, user, create, start, runOf, balance, ended, begin } = await trainingServer();

test('refuses adapter fields by name and holds nothing', async () => {
  const before = await balance();
  for (const sent of [{ lora_r: 8 }, { lora_target_modules: ['q_proj' as const] }, { use_rslora: false }]) {
    const [name = ''] = Object.keys(sent);
    await expect(start({ payload: { ...sent, adaptation: 'full' } })).rejects.toMatchObject({
      status: 400,
      body: {
        error: {
          message: `${name} is for LoRA: leave it out of a full fine-tune`,
          param: `fine_tune_payload.${name}`,
        },
      },
    });
  }
  expect(await balance()).toEqual(before);
});

test("full fine-tuning uses the base's GGUF at a higher price than an adapter", async () => {
  const base_model = await create(user, 'MODEL', 'tiny base', {
    ...{ 'config.json': '{}', 'model.safetensors': emptySafetensors(), 'base-F16.gguf': emptyGguf() },
  });
  const trained = async (payload: { adaptation?: 'full'; learning_rate?: number }) => {
    const { modelId, launch } = await begin(idleUntilStopped, { payload: { ...payload, base_model } });
    const read = machine.read?.spec;
    const run = await runOf(modelId);
    await request(cancelRun, { params: { runId: run.run_id } }, { as: user });
    await ended(modelId);
    return { run, read, launch, inputs: launch.spec.inputs.map(({ name }) => name) };
  };
  const lora = await trained({});
  const full = await trained({ adaptation: 'full', learning_rate: 5e-5 });
  expect(lora.inputs).toEqual(['base_model', 'dataset']);
  expect(full.inputs).toEqual(['base_model', 'dataset', 'base_gguf']);
  expect(full.read).toMatchObject({ parameters: { lora: null } });
  expect(full.launch.spec).toMatchObject({ parameters: { lora: null, learning_rate: 5e-5 } });
  expect(lora.run.parameters).toMatchObject({ adaptation: 'lora', lora_r: 8 });
  expect(full.run.parameters).toMatchObject({ adaptation: 'full', lora_target_modules: [] });
  expect(full.run.parameters).not.toHaveProperty('lora_r');
  expect(Number(full.run.quote.total)).toBeGreaterThan(Number(lora.run.quote.total));
});

test('passes free target modules to the runtime, and reports its faults by field', async () => {
  const data = machine.data;
  const param = 'fine_tune_payload.lora_target_modules';
  const refused = (modules: string[], message: string) =>
    expect(start({ payload: { lora_target_modules: modules } })).rejects.toMatchObject({
      body: { error: { message, param } },
    });
  const unknown = 'The base model has no linear module named unheard.';
  machine.data = { ...goodData, target_errors: [unknown] };
  await refused(['unheard'], unknown);
  machine.data = data;
  await refused(['all-linear', 'q_proj'], 'all-linear includes all other modules: leave them out');
  const target_modules = ['all-linear'];
  const { modelId, launch } = await begin(idleUntilStopped, {
    payload: { lora_target_modules: target_modules },
  });
  expect(launch.spec).toMatchObject({ parameters: { lora: { target_modules } } });
  const run = await runOf(modelId);
  expect(run.parameters).toMatchObject({ lora_target_modules: target_modules });
  await request(cancelRun, { params: { runId: run.run_id } }, { as: user });
  await ended(modelId);
});
