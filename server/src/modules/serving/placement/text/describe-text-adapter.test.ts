import { getModelReadiness } from '@bakehouse/contract/assets';
import { beforeAll, expect, it } from 'vitest';
import { unlisted } from '../../../../engine/testing/test-gpus.ts';
import type { TestUser } from '../../../../testing/test-server.ts';
import { type TestServing, testServing } from '../../../../testing/test-serving.ts';
import { insertModel } from '../../../deployments/testing/test-models.ts';

const onGpus = { gpus: [unlisted('NVIDIA GeForce RTX 4090', 24, [0])], servesTextOnGpus: true };

let serving: Record<'llamacpp' | 'vllm', { at: TestServing; user: TestUser; baseId: string }>;

async function serveBy(at: TestServing) {
  const user = await at.server.signUp();
  const files = { 'model.safetensors': 'weights', 'model.gguf': 'weights', 'config.json': '{}' };
  return { at, user, baseId: (await insertModel(at.server.services, user, 'A Base', files)).assetId };
}

beforeAll(async () => {
  serving = {
    llamacpp: await serveBy(await testServing()),
    vllm: await serveBy(await testServing({ capacity: { 'cpu:deployment': 2, ...onGpus } })),
  };
});

/** Returns why an uploaded adapter with this configuration cannot be deployed; null if it can. */
async function obstacle(engine: keyof typeof serving, config: object): Promise<string | null> {
  const { at, user, baseId } = serving[engine];
  const files = { 'adapter_config.json': JSON.stringify(config), 'adapter_model.safetensors': 'tensors' };
  const { assetId } = await insertModel(at.server.services, user, 'My Tune', files, baseId);
  return (await at.server.request(getModelReadiness, { params: { id: assetId } }, { as: user })).deploy;
}

it.each([
  [{ r: 16, use_dora: true }, 'its adapter is a DoRA (use_dora), and only plain LoRA can be'],
  [{ r: 16, modules_to_save: ['embed_tokens', 'lm_head'] }, 'modules_to_save: embed_tokens, lm_head'],
  [{ r: 16, peft_type: 'IA3' }, 'its adapter is of the kind IA3'],
  [{ r: 0 }, 'names no rank r'],
])('refuses an adapter with %j with one reason', async (config, fault) => {
  for (const engine of ['llamacpp', 'vllm'] as const) {
    const said = await obstacle(engine, config);
    expect(said).toContain(fault);
    expect(said?.match(/My Tune/g)).toHaveLength(1);
  }
});

it('deploys a plain adapter, on the CPU if vLLM does not support its rank', async () => {
  const plain = { peft_type: 'LORA', use_dora: false, modules_to_save: null };
  for (const engine of ['llamacpp', 'vllm'] as const) {
    for (const r of [16, 1024]) expect(await obstacle(engine, { r, ...plain })).toBeNull();
  }
});
