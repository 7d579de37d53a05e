import { expect, it } from 'vitest';
import { sumCapacities } from '../../../../engine/machines/join-installation.ts';
import type { Gpu } from '../../../../engine/model/gpu.ts';
import { maxServers } from './server-limits.ts';

const onCpu = { accelerator: null, count: 0 };
const H100 = 'NVIDIA_H100_80GB';
const gpus = (count: number): Gpu[] => [
  {
    type: H100,
    devices: Array.from({ length: count }, (_, at) => at),
    memoryBytes: 80 * 1024 ** 3,
    like: H100,
  },
];

it('reserves a CPU slot for each starter model, and allows one user half of the rest', () => {
  expect(maxServers(onCpu, { 'cpu:deployment': 6 })).toEqual({ user: 2, all: 3 });
  expect(maxServers(onCpu, { 'cpu:deployment': 1 })).toEqual({ user: 1, all: 1 });
});

it('allows more CPU slots with a cluster', () => {
  const capacity = sumCapacities([{ 'cpu:deployment': 6, gpus: gpus(2) }, { gpus: gpus(4) }]);
  expect(maxServers({ accelerator: H100, count: 1 }, capacity)).toMatchObject({ user: 3 });
  expect(maxServers(onCpu, capacity)).toEqual({ user: 2, all: 3 });
});

it('allows one user half of the GPUs of a kind, and at least one model server', () => {
  const all = Number.POSITIVE_INFINITY;
  expect(maxServers({ accelerator: H100, count: 1 }, { gpus: gpus(4) })).toEqual({ user: 2, all });
  expect(maxServers({ accelerator: H100, count: 4 }, { gpus: gpus(4) })).toEqual({ user: 4, all });
  expect(maxServers({ accelerator: H100, count: 1 }, { gpus: gpus(1) })).toEqual({ user: 1, all });
});
