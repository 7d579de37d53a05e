import type { GpuType } from '@bakehouse/contract/limits';
import { expect, test } from 'vitest';
import type { Gpu } from '../../engine/model/gpu.ts';
import { listed, unlisted } from '../../engine/testing/test-gpus.ts';
import { placeRun } from './place-run.ts';

const GB = 1024 ** 3;
const h100 = listed('NVIDIA_H100_80GB', [0, 1, 2, 3, 4, 5, 6, 7]);
const rtx = unlisted('NVIDIA GeForce RTX 4090', 24, [0]);

type Expected = { accelerator: string | null; priceId: string; priceLabel?: string; description: string };
type Row = [string, { type: GpuType; count?: number; gigabytes?: number }, Gpu[], Expected];

const onRtx = {
  accelerator: 'NVIDIA GeForce RTX 4090',
  priceId: 'training:NVIDIA_TESLA_V100',
  priceLabel: 'Training on NVIDIA GeForce RTX 4090, at the price of NVIDIA Tesla V100 (16GB)',
  description:
    'This machine has no NVIDIA Tesla A100 (40GB): the run goes to 1 x NVIDIA GeForce RTX 4090 ' +
    'and is charged at the price of NVIDIA Tesla V100 (16GB).',
};
const onH100 = { accelerator: 'NVIDIA_H100_80GB', priceId: 'training:NVIDIA_H100_80GB' };
const onCpu = { accelerator: null, priceId: 'training:CPU' };

test.each<Row>([
  [
    'the requested GPU',
    { type: 'NVIDIA_H100_80GB' },
    [h100],
    { ...onH100, description: 'The run goes to 1 x NVIDIA H100 (80GB).' },
  ],
  [
    'the requested number of GPUs',
    { type: 'NVIDIA_H100_80GB', count: 8 },
    [h100],
    { ...onH100, description: 'The run goes to 8 x NVIDIA H100 (80GB). You pay for all 8.' },
  ],
  [
    'the same number of another type if there are fewer',
    { type: 'NVIDIA_TESLA_A100', count: 4 },
    [listed('NVIDIA_TESLA_A100', [0, 1]), h100],
    {
      ...onH100,
      description:
        'This machine has no 4 x NVIDIA Tesla A100 (40GB): the run goes to 4 x NVIDIA H100 (80GB) and is charged at its price. You pay for all 4.',
    },
  ],
  [
    'another listed GPU, at its own price',
    { type: 'NVIDIA_TESLA_A100' },
    [h100],
    {
      ...onH100,
      description:
        'This machine has no NVIDIA Tesla A100 (40GB): the run goes to 1 x NVIDIA H100 (80GB) and is charged at its price.',
    },
  ],
  ['an unlisted GPU', { type: 'NVIDIA_TESLA_A100' }, [rtx], onRtx],
  [
    'the CPU if it does not fit the GPU',
    { type: 'NVIDIA_TESLA_A100', gigabytes: 23 },
    [rtx],
    {
      ...onCpu,
      description:
        'This machine has no NVIDIA Tesla A100 (40GB), and no other GPU for the 23.0 GB that the run needs: ' +
        "it goes to this machine's CPU and is charged at the CPU price.",
    },
  ],
  [
    'the CPU without GPUs',
    { type: 'NVIDIA_TESLA_A100', count: 4 },
    [],
    {
      ...onCpu,
      description:
        'This machine has no NVIDIA Tesla A100 (40GB): the run goes to its CPU and is charged at the CPU price. ' +
        'The number of GPUs makes no difference there.',
    },
  ],
])('a run goes to %s', (_case, { type, count = 1, gigabytes = 8 }, gpus, { accelerator, ...expected }) => {
  const place = placeRun({ type, count }, gigabytes * GB, { gpus });
  const isOnCpu = accelerator === null;
  expect(place).toMatchObject({ ...expected, devices: isOnCpu ? 1 : count });
  expect(place.placement).toEqual({ accelerator, count: isOnCpu ? 0 : count });
  expect(place.priceLabel).toBe(expected.priceLabel);
});
