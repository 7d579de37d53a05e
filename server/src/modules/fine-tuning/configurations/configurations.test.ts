import {
  deleteConfiguration,
  listConfigurations,
  renameConfiguration,
  saveConfiguration,
} from '@bakehouse/contract/configurations';
import type { CallOf } from '@bakehouse/contract/endpoint';
import { expect, test } from 'vitest';
import { testServer } from '../../../testing/test-server.ts';

const server = await testServer();
const user = await server.signUp('Ada');
const stranger = await server.signUp('Bob');

const save = (body: CallOf<typeof saveConfiguration>['body'], as = user) =>
  server.request(saveConfiguration, { body }, { as });

test('are saved, replaced by name, listed and deleted', async () => {
  const first = await save({ config_name: 'small', fine_tune_payload: { epochs: 1 } });
  expect(await save({ config_name: 'small', fine_tune_payload: { epochs: 5 } })).toMatchObject({
    config_id: first.config_id,
    // A configuration has only the given fields, so that applying it does not change others.
    fine_tune_payload: { epochs: 5 },
    isSelectedGpu: false,
    hfModelId: null,
  });
  const { configurations } = await server.request(listConfigurations, {}, { as: user });
  expect(configurations.map((one) => one.fine_tune_payload)).toEqual([{ epochs: 5 }]);
  const params = { configId: first.config_id };
  await expect(server.request(deleteConfiguration, { params }, { as: stranger })).rejects.toMatchObject({
    status: 404,
  });
  await server.request(deleteConfiguration, { params }, { as: user });
  await expect(server.request(deleteConfiguration, { params }, { as: user })).rejects.toMatchObject({
    status: 404,
  });
});

test("are accepted with flat fields, in camelCase, and in the original product's payload", async () => {
  const saved = await save({
    configName: 'flat',
    learningRate: 0.0002,
    epochs: 3,
    acceleratorType: 'NVIDIA_H100_80GB',
    isSelectedGpu: true,
    user_id: user.userId,
  });
  expect(saved).toMatchObject({ config_name: 'flat', isSelectedGpu: true });
  expect(saved.fine_tune_payload).toEqual({
    learning_rate: 0.0002,
    epochs: 3,
    accelerator_type: 'NVIDIA_H100_80GB',
  });
  const nested = await save({ config_name: 'nested', fineTunePayload: { loraR: 4, lora_r: 8 } });
  expect(nested.fine_tune_payload).toEqual({ lora_r: 8 });
});

test('store the settings of preference training', async () => {
  const dpo = {
    data_format: 'preference',
    objective: 'dpo',
    ...{ beta: 0.2, sft_weight: 0.5 },
    ...{ input_column: 'prompt', output_column: 'chosen', rejected_column: 'rejected' },
  } as const;
  expect((await save({ config_name: 'kind', fine_tune_payload: dpo })).fine_tune_payload).toEqual(dpo);
  const camel = await save({ config_name: 'camel', rejectedColumn: 'worse', sftWeight: 1 });
  expect(camel.fine_tune_payload).toEqual({ rejected_column: 'worse', sft_weight: 1 });
  const bad = save({ config_name: 'bad', fine_tune_payload: { ...dpo, beta: 11 } });
  await expect(bad).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('Beta must be at most 10'),
  });
});

test('of a hub model name their base by the hub id with dashes, and report a missing GPU', async () => {
  const saved = await save({
    config_name: 'hub',
    hfModelId: 'meta-llama/Llama-3.2-1B',
    isSelectedGpu: false,
  });
  expect(saved).toMatchObject({ hfModelId: 'meta-llama/Llama-3.2-1B', isSelectedGpu: false });
  expect(saved.fine_tune_payload).toEqual({
    hf_model_id: 'meta-llama/Llama-3.2-1B',
    base_model: 'meta-llama-Llama-3.2-1B',
    accelerator_type: null,
  });
});

test.each([
  [{ config_name: 'x', epoch: 1 }, 'Unknown field: epoch'],
  [{ config_name: 'x', fine_tune_payload: { epochs: 1, rank: 8, speed: 1 } }, 'Unknown fields: rank, speed'],
  [{ config_name: 'x', epochs: 0 }, 'Epochs must be at least 1'],
  [{ epochs: 1 }, 'Name is required'],
  [{ config_name: 'x', base_model: 'meta-llama/Llama' }, 'No model has this id'],
  [{ config_name: 'x', hfModelId: 'llama' }, 'Hub model must be written as owner/name'],
])('refuses %j: %s', async (body, message) => {
  await expect(save(body as never)).rejects.toThrow(message);
});

test('can be renamed by their owner, but not to a name in use', async () => {
  const one = await save({ config_name: 'one', epochs: 1 });
  await save({ config_name: 'two', epochs: 2 });
  const params = { configId: one.config_id };
  const rename = (config_name: string, as = user) =>
    server.request(renameConfiguration, { params, body: { config_name } }, { as });
  expect(await rename('three')).toMatchObject({ config_id: one.config_id, config_name: 'three' });
  await expect(rename('two')).rejects.toThrow('Another template is called two. Choose another name.');
  await expect(rename('four', stranger)).rejects.toMatchObject({ status: 404 });
});
