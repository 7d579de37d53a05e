import { deployVllm } from '@bakehouse/contract/deployments';
import { formatBgl } from '@bakehouse/contract/money';
import { beforeAll, expect, it } from 'vitest';
import { unlisted } from '../../../engine/testing/test-gpus.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { type TestServing, testServing } from '../../../testing/test-serving.ts';
import { readRevision } from '../../assets/read-revision.ts';
import { recordLineage } from '../../assets/record-lineage.ts';
import { costMicro } from '../../credits/prices/cost-micro.ts';
import { defaultPrice } from '../../credits/prices/default-price.ts';
import { insertModel, insertTraining } from '../testing/test-models.ts';

const GB = 1024 ** 3;
const RTX = 'NVIDIA GeForce RTX 4090';

let onGpus: TestServing;
let onCpu: TestServing;
beforeAll(async () => {
  // Beside what vLLM itself takes there is room for a few bytes of weights.
  const gpus = [unlisted(RTX, (3 * GB + 4.5) / 0.9 / GB, [0, 1])];
  onGpus = await testServing({ capacity: { 'cpu:deployment': 2, gpus, servesTextOnGpus: true } });
  onCpu = await testServing();
});

async function deploy(user: TestUser, weights: string, count: number) {
  const { server, status, driver } = onGpus;
  const content = { 'model.safetensors': weights, 'model.gguf': `GGUF of ${weights}` };
  const { assetId } = await insertModel(server.services, user, 'A Base', content);
  const body = { model_id: assetId, user_id: user.userId, gpu_count: count };
  const { pod_id } = await server.request(deployVllm, { body }, { as: user });
  await onGpus.untilRunning(user, pod_id);
  return { ...(await status(user, pod_id)), specs: driver.running().map(({ spec }) => spec) };
}

const hourOn = (device: 'GPU' | 'CPU', count: number) =>
  formatBgl(
    costMicro([{ price: defaultPrice(`text_serving:${device}`), parts: 3_600_000n * BigInt(count) }]),
  );

it.each([
  ['one GPU of another kind', '1234', 1, `1 x ${RTX}`, 'vllm', hourOn('GPU', 1)],
  ['two that share it', '12345678', 2, `2 x ${RTX}`, 'vllm', hourOn('GPU', 2)],
  ['the CPU where it is too large', '12345678', 1, 'CPU', 'llamacpp', hourOn('CPU', 1)],
])(
  'a model is served on %s, and costs what that costs',
  async (_case, weights, count, device, engine, price) => {
    const user = await onGpus.server.signUp();
    const pod = await deploy(user, weights, count);
    expect(pod).toMatchObject({ device, price_per_hour: price });
    expect(pod.specs).toMatchObject([{ engine, gpus: engine === 'vllm' ? count : 0 }]);
    await onGpus.terminate(user, pod.pod_id);
    await expect.poll(() => onGpus.driver.running(), { timeout: 10_000 }).toEqual([]);
  },
);

it('says why a trained adapter cannot be served by llama.cpp', async () => {
  const { server } = onCpu;
  const user = await server.signUp();
  const base = await insertModel(server.services, user, 'A Base', { 'model.gguf': 'weights' });
  const trained = { 'adapter_config.json': '{"r":8}', 'adapter_model.safetensors': 'adapter' };
  const { assetId } = await insertModel(server.services, user, 'My Tune', trained);
  const source = { ...base, title: 'A Base' };
  const { files } = await readRevision(server.services.db, { assetId, userId: user.userId });
  await inTransaction(server.services.db, async (tx) => {
    const runId = await insertTraining(tx, files);
    await recordLineage(tx, { assetId, runId, base: source, dataset: source });
  });
  await expect(onCpu.deploy(user, assetId)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('My Tune has no adapter.gguf'),
  });
});
