import * as training from '@bakehouse/contract/fine-tuning';
import type { GpuCount } from '@bakehouse/contract/limits';
import { expect, test } from 'vitest';
import type { Launch } from '../../engine/drivers/driver.ts';
import { listed } from '../../engine/testing/test-gpus.ts';
import { trainingServer } from './testing/training-server.ts';
import { micro } from './testing/workload-calls.ts';

const H100 = 'NVIDIA_H100_80GB';
const { machine, request, user, datasetId, baseId, start, runOf, ended, trainFor } = await trainingServer([
  listed(H100, [0, 1, 2, 3]),
]);

const validate = (count: GpuCount, more: object = {}) =>
  request(
    training.validateFineTune,
    {
      body: {
        ...{ dataset_id: datasetId, model_id: baseId, file_name: 'rows.csv' },
        ...{ input_column: 'question', output_column: 'answer' },
        ...({ gpu_type: H100, accelerator_count: count, ...more } as const),
      },
    },
    { as: user },
  );

test('several GPUs shorten the estimated time, and each one is in the quote', async () => {
  const [one, two] = [await validate(1), await validate(2)];
  expect(two).toMatchObject({
    critical_errors: [],
    placement: { device: 'gpu', description: 'The run goes to 2 x NVIDIA H100 (80GB). You pay for all 2.' },
  });
  const cost = ({ cost_estimate }: typeof one) => micro(cost_estimate.quote.total);
  expect(two.cost_estimate.duration_hours).toBeLessThan(one.cost_estimate.duration_hours * 0.6);
  expect(cost(two)).toBeGreaterThan(cost(one));
  expect(cost(two)).toBeLessThan(cost(one) * 1.2);
});

test('a run starts on all of its GPUs and is charged for each', async () => {
  let launched: Launch | undefined;
  machine.script = (launch, process) => {
    launched = launch;
    return trainFor(30)(launch, process);
  };
  const payload = { accelerator_type: H100, accelerator_count: 4, ceiling: '20' } as const;
  const modelId = await start({ payload });
  await ended(modelId);
  expect(launched?.devices).toEqual([0, 1, 2, 3]);
  expect(launched?.spec).toMatchObject({ device: 'cuda', gpus: 4 });
  const run = await runOf(modelId);
  expect(run).toMatchObject({ state: 'completed', device: '4 x NVIDIA H100 (80GB)' });
  const hour = Number(run.quote.items[0]?.unit_price);
  expect(Number(run.charged)).toBeCloseTo((30 * 4 * hour) / 3600, 3);
});

test('refuses an unavailable number of GPUs by field, before anything is charged', async () => {
  const { critical_errors, placement } = await validate(8, { batch_size: 2 });
  expect(critical_errors).toEqual(['No machine here has 8 GPUs of one kind: choose 1 or 2 or 4']);
  expect(placement.description).toBe('The run goes to 1 x NVIDIA H100 (80GB).');
  const asked = { accelerator_type: H100, accelerator_count: 8, batch_size: 2 } as const;
  await expect(start({ payload: asked })).rejects.toMatchObject({
    body: { error: { code: 'invalid_request', param: 'fine_tune_payload.accelerator_count' } },
  });
});
