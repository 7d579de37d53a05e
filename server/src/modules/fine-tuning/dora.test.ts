import { cancelRun } from '@bakehouse/contract/runs';
import { expect, test } from 'vitest';
import { idleUntilStopped } from '../../engine/drivers/fake/fake-driver.ts';
import { emptyGguf, emptySafetensors } from './testing/test-run.ts';
import { trainingServer } from './testing/training-server.ts';

const { request, user, create, start, runOf, balance, ended, begin } = await trainingServer();

test("DoRA trains with the base's GGUF at a higher price than a plain adapter", async () => {
  const base_model = await create(user, 'MODEL', 'tiny base', {
    ...{ 'config.json': '{}', 'model.safetensors': emptySafetensors(), 'base-F16.gguf': emptyGguf() },
  });
  const trained = async (payload: { use_dora?: boolean }) => {
    const { modelId, launch } = await begin(idleUntilStopped, { payload: { ...payload, base_model } });
    const run = await runOf(modelId);
    await request(cancelRun, { params: { runId: run.run_id } }, { as: user });
    await ended(modelId);
    return { run, launch, inputs: launch.spec.inputs.map(({ name }) => name) };
  };
  const plain = await trained({});
  const dora = await trained({ use_dora: true });
  expect(plain.inputs).toEqual(['base_model', 'dataset']);
  expect(dora.inputs).toEqual(['base_model', 'dataset', 'base_gguf']);
  expect(plain.launch.spec).toMatchObject({ parameters: { lora: { use_dora: false }, load_in_4bit: false } });
  expect(dora.launch.spec).toMatchObject({ parameters: { lora: { use_dora: true }, load_in_4bit: false } });
  expect(dora.run.parameters).toMatchObject({ adaptation: 'lora', use_dora: true });
  expect(plain.run.parameters).toMatchObject({ adaptation: 'lora', use_dora: false });
  expect(Number(dora.run.quote.total)).toBeGreaterThan(Number(plain.run.quote.total));
});

test('without a GPU QLoRA is refused by its field and nothing is held', async () => {
  const before = await balance();
  await expect(start({ payload: { adaptation: 'qlora' } })).rejects.toMatchObject({
    status: 400,
    body: {
      error: {
        message: 'QLoRA needs a GPU, and there is none here: choose LoRA',
        param: 'fine_tune_payload.adaptation',
      },
    },
  });
  expect(await balance()).toEqual(before);
});
