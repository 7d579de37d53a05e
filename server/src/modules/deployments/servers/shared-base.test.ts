import { updateAsset } from '@bakehouse/contract/assets';
import { describe, expect, it, vi } from 'vitest';
import { listed } from '../../../engine/testing/test-gpus.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { type TestServing, testServing } from '../../../testing/test-serving.ts';
import { insertEncoder, insertModel } from '../testing/test-models.ts';

const files = { 'model.safetensors': 'weights', 'config.json': '{}', 'tokenizer.json': 'a tokenizer' };
const retokenized = { ...files, 'tokenizer.json': 'another tokenizer' };

/**
 * Deploys each set of files for another user, one after the other. Returns how many model servers run, and
 * then terminates all deployments.
 */
async function countServers(serving: TestServing, fileSets: Record<string, string>[]): Promise<number> {
  const pods: { owner: TestUser; podId: string }[] = [];
  for (const content of fileSets) {
    const owner = await serving.server.signUp();
    const { assetId } = await insertModel(serving.server.services, owner, 'A Base', content);
    const podId = await serving.deploy(owner, assetId);
    await serving.untilRunning(owner, podId);
    pods.push({ owner, podId });
  }
  const count = serving.driver.running().length;
  for (const { owner, podId } of pods) await serving.terminate(owner, podId);
  await vi.waitFor(() => expect(serving.driver.running()).toEqual([]));
  return count;
}

const gpus = [listed('NVIDIA_TESLA_A100', [0, 1, 2, 3])];
const onGpus = await testServing({ capacity: { gpus, servesTextOnGpus: true } });
const onCpu = await testServing({ capacity: { 'cpu:deployment': 12 } });

describe('a base on a GPU', () => {
  it('is shared by all models of the same files, of any user', async () => {
    expect(await countServers(onGpus, [files, files])).toBe(1);
  });

  it('is not shared by models of the same weights with different tokenizers', async () => {
    expect(await countServers(onGpus, [files, retokenized])).toBe(2);
  });
});

describe('a base on the CPU', () => {
  it('is shared by all models of the same GGUF, regardless of other files', async () => {
    const gguf = { ...files, 'model.gguf': 'weights and tokenizer' };
    expect(await countServers(onCpu, [gguf, { ...gguf, 'tokenizer.json': 'another tokenizer' }])).toBe(1);
    expect(await countServers(onCpu, [gguf, { ...gguf, 'model.gguf': 'other weights' }])).toBe(2);
  });
});

describe('a base that belongs to another user', () => {
  it.each(['text', 'embedding'] as const)(
    'runs in a separate process for each user who deploys it: %s',
    async (task) => {
      const { server, deploy } = onCpu;
      const [owner, stranger] = [await server.signUp(), await server.signUp()];
      const { assetId } =
        task === 'text'
          ? await insertModel(server.services, owner, 'A Base', {
              ...files,
              'model.gguf': 'weights and tokenizer',
            })
          : await insertEncoder(server.services, owner, 'An Encoder');
      const body = { is_published: true };
      await server.request(updateAsset, { params: { id: assetId }, body }, { as: owner });
      const serverOf = async (podId: string) => {
        const found = server.services.db
          .selectFrom('deployments')
          .select('model_server_id')
          .where('id', '=', podId);
        return (await found.executeTakeFirstOrThrow()).model_server_id;
      };
      const servers: string[] = [];
      for (const as of [owner, stranger]) servers.push(await serverOf(await deploy(as, assetId)));
      expect(new Set(servers).size).toBe(2);
    },
  );
});
