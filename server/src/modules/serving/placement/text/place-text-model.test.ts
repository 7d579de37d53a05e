import { deployVllm } from '@bakehouse/contract/deployments/text';
import { formatBgl } from '@bakehouse/contract/money';
import { beforeAll, expect, it } from 'vitest';
import { unlisted } from '../../../../engine/testing/test-gpus.ts';
import { inTransaction } from '../../../../platform/db/in-transaction.ts';
import type { TestUser } from '../../../../testing/test-server.ts';
import { type TestServing, testServing } from '../../../../testing/test-serving.ts';
import { recordLineage } from '../../../assets/lineage.ts';
import { readRevision } from '../../../assets/read-revision.ts';
import { costMicro } from '../../../billing/prices/cost.ts';
import { defaultPrice } from '../../../billing/prices/default-price.ts';
import { insertModel, insertTraining } from '../../../deployments/testing/test-models.ts';

const GB = 1024 ** 3;
const RTX = 'NVIDIA GeForce RTX 4090';

let onGpus: TestServing;
let onCpu: TestServing;
beforeAll(async () => {
  // Besides vLLM's own memory, each GPU has room for a few bytes of weights.
  const gpus = [unlisted(RTX, (3 * GB + 4.5) / 0.9 / GB, [0, 1, 2, 3])];
  onGpus = await testServing({ capacity: { 'cpu:deployment': 2, gpus, servesTextOnGpus: true } });
  onCpu = await testServing();
});

async function deploy(user: TestUser, content: Record<string, string>, count: number) {
  const { server, status, driver } = onGpus;
  const { assetId } = await insertModel(server.services, user, 'A Base', content);
  // The contract allows only some numbers, but these tests also send others.
  const gpu_count = count as 1;
  const body = { model_id: assetId, user_id: user.userId, gpu_count };
  const { pod_id } = await server.request(deployVllm, { body }, { as: user });
  await onGpus.untilRunning(user, pod_id);
  return { ...(await status(user, pod_id)), specs: driver.running().map(({ spec }) => spec) };
}

const hourOn = (device: 'GPU' | 'CPU', count: number) =>
  formatBgl(
    costMicro([{ price: defaultPrice(`text_serving:${device}`), parts: 3_600_000n * BigInt(count) }]),
  );

const both = (weights: string) => ({ 'model.safetensors': weights, 'model.gguf': `GGUF of ${weights}` });
const part = (number: number) => `model-0000${number}-of-00002.safetensors`;

it.each([
  ['one GPU of another kind', both('1234'), 1, `1 x ${RTX}`, 'vllm', hourOn('GPU', 1)],
  ['two GPUs that share it', both('12345678'), 2, `2 x ${RTX}`, 'vllm', hourOn('GPU', 2)],
  [
    'a GPU from several parts',
    { [part(1)]: '12', [part(2)]: '34' },
    1,
    `1 x ${RTX}`,
    'vllm',
    hourOn('GPU', 1),
  ],
  ['the CPU if it is too large', both('12345678'), 1, 'CPU', 'llamacpp', hourOn('CPU', 1)],
  ['the CPU if it is only in GGUF', { 'model.gguf': '1234' }, 1, 'CPU', 'llamacpp', hourOn('CPU', 1)],
])(
  'serves a model on %s at the price of the device',
  async (_case, content, count, device, engine, price) => {
    const user = await onGpus.server.signUp();
    const pod = await deploy(user, content, count);
    expect(pod).toMatchObject({ device, price_per_hour: price });
    expect(pod.specs).toMatchObject([{ engine, gpus: engine === 'vllm' ? count : 0 }]);
    await onGpus.terminate(user, pod.pod_id);
    await expect.poll(() => onGpus.driver.running()).toEqual([]);
  },
);

it.each([
  [4, '1 or 2', { num_attention_heads: 14, num_key_value_heads: 2 }],
  [2, '1', { text_config: { num_attention_heads: 9 } }],
  [4, '1 or 2', { num_attention_heads: 40, num_key_value_heads: 10 }],
])('refuses %i GPUs if vLLM cannot split the heads evenly: it must be %s', async (count, fitting, config) => {
  const user = await onGpus.server.signUp();
  const content = { 'model.safetensors': '1234', 'config.json': JSON.stringify(config) };
  await expect(deploy(user, content, count)).rejects.toMatchObject({
    status: 400,
    body: { error: { param: 'gpu_count' } },
    message: expect.stringContaining(`gpu_count must be ${fitting}: ${count} GPUs cannot share`),
  });
});

it('serves a model on GPUs among which its heads can be split, or to which its key-value heads can be copied', async () => {
  const user = await onGpus.server.signUp();
  const config = { num_attention_heads: 12, num_key_value_heads: 1 };
  const content = { 'model.safetensors': '12345678', 'config.json': JSON.stringify(config) };
  const { pod_id, device } = await deploy(user, content, 2);
  expect(device).toBe(`2 x ${RTX}`);
  await onGpus.terminate(user, pod_id);
  await expect.poll(() => onGpus.driver.running()).toEqual([]);
});

it.each([0, 3, 5, 6, 7, 16])('refuses %i GPUs as an invalid number', async (count) => {
  const user = await onGpus.server.signUp();
  await expect(deploy(user, both('1234'), count)).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('1, 2, 4, or 8'),
  });
});

const noGguf = 'A Base has no GGUF file, so it cannot be served here';

it.each([
  [
    'is too large for the GPU',
    { 'model.safetensors': '12345678' },
    `A Base needs a GPU with at least 4 GB of memory, which this server does not have. ${noGguf}`,
  ],
  ['lacks a part', { [part(1)]: '12' }, `A Base is incomplete: ${part(2)} is missing. ${noGguf}`],
  ['has no weights', { 'config.json': '{}' }, `A Base has no safetensors weights for a GPU. ${noGguf}`],
  [
    'only has several GGUF files',
    { 'q4.gguf': '4', 'q8.gguf': '8' },
    'A Base has no safetensors weights for a GPU. A Base has several GGUF models, q4.gguf and q8.gguf, ' +
      'of which one can be served: delete the others',
  ],
])('reports the obstacle of a model that %s', async (_case, content, message) => {
  const user = await onGpus.server.signUp();
  await expect(deploy(user, content, 1)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining(message),
  });
});

it("llama.cpp gets only the base's GGUF and sampling defaults", async () => {
  const user = await onGpus.server.signUp();
  const content = {
    'q4.gguf': '4',
    'config.json': '{}',
    'generation_config.json': '{}',
    'tokenizer.json': '{}',
  };
  const { pod_id, specs } = await deploy(user, content, 1);
  const files = specs.flatMap(({ inputs }) => inputs.flatMap((input) => input.files.map(({ path }) => path)));
  expect(files).toEqual(['generation_config.json', 'q4.gguf']);
  expect(specs).toMatchObject([{ model_file: 'q4.gguf' }]);
  await onGpus.terminate(user, pod_id);
  await expect.poll(() => onGpus.driver.running()).toEqual([]);
});

it('deployments share a server if the loaded files are equal, even if the model cards differ', async () => {
  const user = await onGpus.server.signUp();
  const serverOf = async (card: string) => {
    const { pod_id } = await deploy(
      user,
      { 'model.safetensors': '1', 'config.json': '{}', 'README.md': card },
      1,
    );
    const row = await onGpus.server.services.db
      .selectFrom('deployments')
      .select('model_server_id')
      .where('id', '=', pod_id)
      .executeTakeFirstOrThrow();
    return row.model_server_id;
  };
  expect(await serverOf('# A card')).toBe(await serverOf('# Another card'));
});

/** Inserts a fine-tune of a base with these files. */
async function insertFineTune({ server }: TestServing, user: TestUser, content: Record<string, string>) {
  const base = await insertModel(server.services, user, 'A Base', content);
  const trained = { 'adapter_config.json': '{"r":8}', 'adapter_model.safetensors': 'adapter' };
  const { assetId } = await insertModel(server.services, user, 'My Tune', trained);
  const source = { ...base, title: 'A Base' };
  const { files } = await readRevision(server.services.db, { assetId, userId: user.userId });
  await inTransaction(server.services.db, async (tx) => {
    const runId = await insertTraining(tx, files);
    await recordLineage(tx, { assetId, runId, base: source, dataset: source });
  });
  return assetId;
}

it('reports why llama.cpp cannot serve a trained adapter', async () => {
  const user = await onCpu.server.signUp();
  const assetId = await insertFineTune(onCpu, user, { 'model.gguf': 'weights' });
  await expect(onCpu.deploy(user, assetId)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('My Tune has no adapter.gguf'),
  });
});

it("a fine-tune needs memory for its base and vLLM's adapter slots", async () => {
  const user = await onGpus.server.signUp();
  const sizes = {
    ...{ num_hidden_layers: 1, num_attention_heads: 1, hidden_size: 1, intermediate_size: 1, vocab_size: 1 },
    ...{ max_position_embeddings: 1, layer_types: [] },
  };
  const content = { 'model.safetensors': '1', 'config.json': JSON.stringify(sizes) };
  const assetId = await insertFineTune(onGpus, user, content);
  await expect(onGpus.deploy(user, assetId)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('A Base needs a GPU with at least 4 GB of memory'),
  });
});
