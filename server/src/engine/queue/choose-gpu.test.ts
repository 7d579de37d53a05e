import type { GpuType } from '@bakehouse/contract/limits';
import { expect, test } from 'vitest';
import type { Gpu } from '../model/gpu.ts';
import { listed, unlisted } from '../testing/test-gpus.ts';
import { chooseGpu } from './choose-gpu.ts';

const h100 = listed('NVIDIA_H100_80GB', [1, 3]);
const rtx = unlisted('NVIDIA GeForce RTX 4090', 24, [0]);
const l40s = unlisted('NVIDIA L40S', 45, [0, 1, 2, 3]);
const t4 = unlisted('Tesla T4', 15, [4]);

type Row = [string, { type: GpuType; count: number; gigabytes: number }, Gpu[], Gpu | null];

test.each<Row>([
  [
    'the requested type if available',
    { type: 'NVIDIA_H100_80GB', count: 2, gigabytes: 1 },
    [l40s, h100],
    h100,
  ],
  ['the requested type, however small', { type: 'NVIDIA_H100_80GB', count: 1, gigabytes: 99 }, [h100], h100],
  ['another type if not', { type: 'NVIDIA_TESLA_A100', count: 1, gigabytes: 9 }, [rtx], rtx],
  ['another listed one too', { type: 'NVIDIA_TESLA_A100', count: 1, gigabytes: 9 }, [h100], h100],
  ['the nearest in memory', { type: 'NVIDIA_TESLA_A100', count: 1, gigabytes: 9 }, [t4, h100, l40s], l40s],
  ['one with enough memory', { type: 'NVIDIA_TESLA_V100', count: 1, gigabytes: 30 }, [t4, rtx, l40s], l40s],
  ['enough GPUs of one type', { type: 'NVIDIA_H100_80GB', count: 4, gigabytes: 9 }, [h100, rtx, l40s], l40s],
  ['the CPU if none has room', { type: 'NVIDIA_TESLA_A100', count: 1, gigabytes: 30 }, [rtx, t4], null],
  ['the CPU if there are too few', { type: 'NVIDIA_TESLA_A100', count: 2, gigabytes: 9 }, [rtx], null],
  ['the CPU if there are no GPUs', { type: 'NVIDIA_TESLA_A100', count: 1, gigabytes: 9 }, [], null],
])('work goes to %s', (_case, { gigabytes, ...wanted }, gpus, expected) => {
  const fits = (gpu: Gpu) => gpu.memoryBytes >= gigabytes * 1024 ** 3;
  expect(chooseGpu(wanted, { gpus }, fits)).toBe(expected);
});
