import { expect, test } from 'vitest';
import { listed } from '../../../engine/testing/test-gpus.ts';
import { findCpuFaults, findGpuFaults } from './base-faults.ts';

const gpus = [listed('NVIDIA_H100_80GB', [0, 1, 2, 3]), listed('NVIDIA_TESLA_A100', [4])];
const four = {
  ...({ count: 4, objective: 'sft', adaptation: 'lora' } as const),
  ...{ batch_size: 1, gradient_accumulation_steps: 4 },
};
type Asked = Parameters<typeof findGpuFaults>[0];

test.each<[string, Asked, typeof gpus]>([
  ['as many as a machine has', four, gpus],
  ['one GPU for any objective', { ...four, count: 1, objective: 'grpo' }, gpus],
  ['several GPUs for DPO', { ...four, objective: 'dpo' }, gpus],
  ['several GPUs for GRPO', { ...four, objective: 'grpo' }, gpus],
  ['several GPUs for KTO with two answers for each', { ...four, objective: 'kto', batch_size: 2 }, gpus],
  ['any number without GPUs, because it goes to the CPU', { ...four, count: 8, objective: 'kto' }, []],
])('a run can use %s', (_case, asked, there) => {
  expect(findGpuFaults(asked, { gpus: there })).toEqual([]);
});

test.each<[string, Partial<Asked>, string]>([
  [
    'more than a machine has',
    { count: 8, batch_size: 2 },
    'No machine here has 8 GPUs of one kind: choose 1 or 2 or 4',
  ],
  ['several for full fine-tuning', { adaptation: 'full' }, 'Full fine-tuning trains on one GPU: choose 1'],
  ['several for a 4-bit base', { adaptation: 'qlora' }, 'QLoRA trains on one GPU: choose 1'],
  ['several for DoRA', { use_dora: true }, 'DoRA trains on one GPU: choose 1'],
  [
    'several for KTO without two answers for each',
    { objective: 'kto' },
    'KTO compares the answers of a batch, and each of 4 GPUs would get one: choose a batch size of 8 or more',
  ],
  [
    'a number that does not divide a step',
    { batch_size: 3, gradient_accumulation_steps: 2 },
    '4 GPUs cannot share the 6 rows of a step (batch size x gradient accumulation): make it a multiple of 4',
  ],
])('a run cannot use %s', (_case, asked, message) => {
  expect(findGpuFaults({ ...four, ...asked }, { gpus })).toEqual([{ message, about: 'accelerator_count' }]);
});

test('8-bit AdamW needs a GPU', () => {
  const faultsOf = (gpu: unknown, there: typeof gpus) =>
    findCpuFaults({ adaptation: 'full', optimizer: 'adamw_8bit' }, { gpu }, { gpus: there });
  expect(faultsOf(gpus[0], gpus)).toEqual([]);
  const message = '8-bit AdamW needs a GPU, and there is none here: choose AdamW';
  expect(faultsOf(null, [])).toEqual([{ message, about: 'optimizer' }]);
  expect(faultsOf(null, gpus)[0]?.message).toMatch(/^8-bit AdamW needs a GPU, and none here is large enough/);
});

test('a 4-bit base needs a GPU', () => {
  const faultsOf = (adaptation: Asked['adaptation'], gpu: unknown, there: typeof gpus) =>
    findCpuFaults({ adaptation, optimizer: 'adamw' }, { gpu }, { gpus: there }).map(
      ({ about, message }) => `${about}: ${message}`,
    );
  expect(faultsOf('qlora', gpus[0], gpus)).toEqual([]);
  expect(faultsOf('lora', null, [])).toEqual([]);
  expect(faultsOf('full', null, gpus)).toEqual([]);
  expect(faultsOf('qlora', null, [])).toEqual([
    'adaptation: QLoRA needs a GPU, and there is none here: choose LoRA',
  ]);
  expect(faultsOf('qlora', null, gpus)).toEqual([
    'adaptation: QLoRA needs a GPU, and none here is large enough: choose a smaller batch size, chunk size or base model',
  ]);
});
