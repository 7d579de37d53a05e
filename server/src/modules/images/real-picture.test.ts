import { getGeneration, startGeneration } from '@bakehouse/contract/generations';
import { expect, test, vi } from 'vitest';
import { readConfig } from '../../config.ts';
import { hasLayer } from '../../engine/machine/environment/has-layer.ts';
import { listImageStarter } from '../../engine/machine/preparation/image-starters.ts';
import { testServer } from '../../testing/test-server.ts';
import { registerImageStarter } from '../assets/starter/register-image-starter.ts';

// The real runtime and the starter model, through the whole program.
const { cacheDir } = readConfig({});
const isReady = await hasLayer(readConfig({}), 'training');

test.skipIf(!isReady)('the starter model draws a picture', { timeout: 300_000 }, async () => {
  const server = await testServer({
    config: { driver: 'local', cacheDir },
    roles: ['web', 'worker', 'reconciler'],
  });
  await registerImageStarter(server.services, 'paris', await listImageStarter('paris'));
  const as = await server.signUp('Ada');
  const { id } = await server.request(
    startGeneration,
    {
      body: {
        generator: 'paris',
        prompt: 'A red bus on a street',
        parameters: { num_inference_steps: 10, sampling_strategy: 'topk', k: 2, seed: 7 },
      },
    },
    { as },
  );
  const seen = new Set<string>();
  const done = await vi.waitFor(
    async () => {
      const generation = await server.request(getGeneration, { params: { id } }, { as });
      seen.add(generation.state);
      expect(generation.state, generation.reason).toBe('completed');
      return generation;
    },
    { timeout: 240_000, interval: 50 },
  );
  expect([...seen]).toEqual(expect.arrayContaining(['starting', 'running', 'completed']));
  expect(done.expert_weights).toHaveLength(10);
  for (const weights of done.expert_weights ?? []) expect(weights).toHaveLength(8);
  const [output] = done.outputs;
  expect(output?.width).toBeGreaterThan(32);
  const bytes = Buffer.from(await (await fetch(new URL(output?.url ?? '', server.url))).arrayBuffer());
  expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  // The file tells how it was made.
  expect(bytes.toString('latin1')).toContain('A red bus on a street');
});
