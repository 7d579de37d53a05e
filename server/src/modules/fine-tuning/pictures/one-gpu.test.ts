import { validateDiffusionTraining } from '@bakehouse/contract/diffusion-training';
import { expect, test } from 'vitest';
import { createFakeDriver, idleUntilStopped } from '../../../engine/drivers/fake/fake-driver.ts';
import { listed } from '../../../engine/testing/test-gpus.ts';
import { testServer } from '../../../testing/test-server.ts';
import { insertFlux } from '../../deployments/testing/test-models.ts';
import { sourceCalls } from '../testing/source-calls.ts';

const gpus = [listed('NVIDIA_H100_80GB', [0, 1])];
const server = await testServer({
  driver: createFakeDriver({ capacity: { 'cpu:run': 1, gpus }, script: idleUntilStopped }),
  readPictures: async () => ({
    ...{ pictures_total: 1, pictures_kept: 1, left_out_total: 0, notes: [], held_out: 0, left_out: [] },
    ...{ samples: [], sizes: [{ width: 128, height: 128, count: 1 }], critical_errors: [] },
    ...{ steps_total: 400, tokens_per_step: 768, base_parameters: 8e6, trainable_parameters: 4e5 },
    ...{ memory_bytes: 2e9, gpu_memory_bytes: 2e9 },
  }),
});

test.each([
  [1, []],
  [2, ['Diffusion training uses one GPU: choose 1']],
] as const)('a picture run with %i GPUs returns %o', async (accelerator_count, errors) => {
  const ada = await server.signUp('Ada');
  const body = {
    dataset_id: await sourceCalls(server).create(ada, 'RAW', 'Chalk', { 'a.png': 'a', 'a.txt': 'a ball' }),
    model_id: (await insertFlux(server.services, ada, 'My painter')).assetId,
    gpu_type: 'NVIDIA_H100_80GB',
    accelerator_count,
  } as const;
  const { critical_errors, placement } = await server.request(
    validateDiffusionTraining,
    { body },
    { as: ada },
  );
  expect(critical_errors).toEqual(errors);
  expect(placement.description).toBe('The run goes to 1 x NVIDIA H100 (80GB).');
});
