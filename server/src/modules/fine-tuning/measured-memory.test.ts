import * as training from '@bakehouse/contract/fine-tuning';
import { expect, test } from 'vitest';
import { emptySafetensors } from './testing/test-run.ts';
import { trainingServer } from './testing/training-server.ts';

const { machine, request, user, datasetId, baseId, create, start, runOf, ended, trainFor } =
  await trainingServer();

const FORMULA = 1_000_000_000;

/** Returns the estimated memory of a run in bytes, as the wizard shows it. */
async function needed(more: object = {}): Promise<number | undefined> {
  const { data } = await request(
    training.validateFineTune,
    {
      body: {
        ...{ dataset_id: datasetId, model_id: baseId, file_name: 'rows.csv' },
        ...{ input_column: 'question', output_column: 'answer', ...more },
      },
    },
    { as: user },
  );
  return data?.memory_bytes;
}

async function train(peak: number) {
  machine.script = trainFor(10, { peak_memory_bytes: peak });
  const modelId = await start();
  await ended(modelId);
  return runOf(modelId);
}

test('measured memory corrects the estimates of runs with the same base, adaptation and objective', async () => {
  expect(await needed()).toBe(FORMULA);
  const run = await train(1.2 * FORMULA);
  expect(run.memory_bytes).toBe(FORMULA);
  expect(run.summary?.peak_memory_bytes).toBe(1.2 * FORMULA);
  expect(await needed()).toBe(1.2 * FORMULA);
  expect(await needed({ adaptation: 'full' })).toBe(FORMULA);
  const pairs = { data_format: 'preference', input_column: null, output_column: null };
  expect(await needed({ objective: 'dpo', ...pairs })).toBe(FORMULA);
  const model_id = await create(user, 'MODEL', 'other base', { 'model.safetensors': emptySafetensors() });
  expect(await needed({ model_id })).toBe(FORMULA);

  // The measurement is compared with the formula. Compared with a corrected estimate, corrections would add
  // up.
  expect((await train(1.4 * FORMULA)).memory_bytes).toBe(FORMULA);
  expect(await needed()).toBeCloseTo(1.3 * FORMULA, -1);
  await train(100 * FORMULA);
  expect(await needed()).toBe(1.4 * FORMULA);
  for (let again = 0; again < 3; again += 1) await train(FORMULA / 10);
  expect(await needed()).toBe(FORMULA);
});

test('unsuccessful runs do not affect the estimate', async () => {
  const before = await needed();
  machine.script = async () => 1;
  const modelId = await start();
  await ended(modelId);
  expect(await needed()).toBe(before);
});
