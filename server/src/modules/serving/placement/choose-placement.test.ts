import { expect, test } from 'vitest';
import type { Gpu } from '../../../engine/model/gpu.ts';
import { listed, unlisted } from '../../../engine/testing/test-gpus.ts';
import { choosePlacement, deviceLabel } from './choose-placement.ts';

const GB = 1024 ** 3;
const h100 = listed('NVIDIA_H100_80GB', [0, 1, 2, 3, 4, 5, 6, 7]);
const rtx = unlisted('NVIDIA GeForce RTX 4090', 24, [0]);
const two = unlisted('NVIDIA GeForce RTX 4090', 24, [0, 1]);

type Row = [
  string,
  Gpu[],
  { instanceType?: string; gpuCount?: number; gigabytes?: number; hasVllm?: boolean },
  string,
  number,
];

test.each<Row>([
  ['on the CPU without a GPU', [], {}, 'CPU', 1],
  ['on the CPU without vLLM', [h100], { instanceType: 'h100', hasVllm: false }, 'CPU', 1],
  ['on the requested GPU', [h100], { instanceType: 'h100' }, '1 x NVIDIA H100 (80GB)', 1],
  [
    'on the requested number of GPUs',
    [h100],
    { instanceType: 'h100', gpuCount: 4 },
    '4 x NVIDIA H100 (80GB)',
    4,
  ],
  ['on another listed GPU', [h100], {}, '1 x NVIDIA H100 (80GB)', 1],
  ['on another GPU', [rtx], { gigabytes: 16 }, '1 x NVIDIA GeForce RTX 4090', 1],
  ['on the CPU when it does not fit', [rtx], { gigabytes: 20 }, 'CPU', 1],
  [
    'on the CPU when it does not fit the requested GPU',
    [h100],
    { instanceType: 'h100', gigabytes: 80 },
    'CPU',
    1,
  ],
  ['on the CPU when there are too few GPUs', [rtx], { gpuCount: 2 }, 'CPU', 1],
  [
    'on two GPUs that fit it together',
    [two],
    { gpuCount: 2, gigabytes: 30 },
    '2 x NVIDIA GeForce RTX 4090',
    2,
  ],
])('a model is served %s', (_case, gpus, given, device, count) => {
  const { instanceType = 'a100', gpuCount = 1, gigabytes = 1, hasVllm = true } = given;
  const capacity = { gpus, servesTextOnGpus: hasVllm && gpus.length > 0 };
  const placement = choosePlacement({ instanceType, gpuCount }, capacity, gigabytes * GB);
  expect(placement).toMatchObject(
    device === 'CPU' ? { engine: 'llamacpp', count: 0 } : { engine: 'vllm', count },
  );
  if (!placement) return;
  expect(deviceLabel({ accelerator: placement.accelerator, accelerator_count: placement.count })).toBe(
    device,
  );
});

test.each(['b200', 'constructor', ''])('returns null for the instance type %j', (instanceType) => {
  expect(choosePlacement({ instanceType, gpuCount: 1 }, {}, 0)).toBeNull();
});
