import { expect, test } from 'vitest';
import { describeOffer } from './describe-offer.ts';

const cpu = { cores: 8, memory_bytes: 64 * 1024 ** 3 };

test("describes a machine's hardware and its slots", () => {
  const gpu = { gpu_type: 'H200', label: 'H200', memory_bytes: 1, count: 2 };
  expect(describeOffer({ cpu, run_slots: 1, deployment_slots: 4, accelerators: [gpu] })).toEqual({
    parts: '2 × H200, 8 cores, 64 GB of memory',
    slots: 'On its CPU: 1 run and 4 deployments at a time',
  });
});
