import { expect, it } from 'vitest';
import type { Gpu } from '../../../engine/model/gpu.ts';
import { checkCapacity } from './choose-placement.ts';

const H100 = 'NVIDIA_H100_80GB';
const machine: Gpu = { type: H100, devices: [0, 1, 2], memoryBytes: 80 * 1024 ** 3, like: H100 };
const capacity = { 'cpu:deployment': 4, gpus: [machine, machine] };
const check = (min_replicas: number, count: number) => () =>
  checkCapacity(
    { min_replicas },
    count === 0 ? { accelerator: null, count } : { accelerator: H100, count },
    capacity,
  );

it('accepts as many replicas as there are slots, each on one machine', () => {
  expect(check(4, 0)).not.toThrow();
  expect(check(6, 1)).not.toThrow();
  expect(check(2, 2)).not.toThrow();
});

it('counts each machine of a cluster', () => {
  const cluster = { gpus: [{ ...machine, machines: 3 }] };
  const of = (min_replicas: number) => () =>
    checkCapacity({ min_replicas }, { accelerator: H100, count: 2 }, cluster);
  expect(of(3)).not.toThrow();
  expect(of(4)).toThrow('min_replicas must be at most 3');
});

it.each([
  [5, 0, 'min_replicas must be at most 4: this server has room for no more replicas on CPU'],
  [
    7,
    1,
    'min_replicas must be at most 6: this server has room for no more replicas on 1 x NVIDIA H100 (80GB)',
  ],
  [
    3,
    2,
    'min_replicas must be at most 2: this server has room for no more replicas on 2 x NVIDIA H100 (80GB)',
  ],
])('refuses %i replicas with %i GPUs each', (replicas, count, publicMessage) => {
  expect(check(replicas, count)).toThrow(
    expect.objectContaining({ code: 'invalid_request', param: 'min_replicas', publicMessage }),
  );
});
