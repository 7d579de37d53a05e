import { expect, it } from 'vitest';
import { readNvidiaSmi } from './accelerators.ts';

it('groups GPUs by the names of the product and keeps their numbers', () => {
  const found = readNvidiaSmi([
    '0, NVIDIA A100-SXM4-80GB, 81920',
    '1, NVIDIA A100-PCIE-40GB, 40960',
    '2, NVIDIA A100-SXM4-80GB, 81920',
    '3, Tesla V100-SXM2-16GB, 16384',
    '4, NVIDIA H100 80GB HBM3, 81559',
  ]);
  expect(found.map(({ gpu_type, devices }) => [gpu_type, devices])).toEqual([
    ['NVIDIA_TESLA_A100_80GB', [0, 2]],
    ['NVIDIA_TESLA_A100', [1]],
    ['NVIDIA_TESLA_V100', [3]],
    ['NVIDIA_H100_80GB', [4]],
  ]);
  expect(found[3]).toMatchObject({ label: 'NVIDIA H100 (80GB)', memory_bytes: 81559 * 1024 * 1024 });
});

it("keeps the driver's name for a GPU that the product does not list", () => {
  expect(readNvidiaSmi(['0, NVIDIA GeForce RTX 4090, 24564'])).toMatchObject([
    { gpu_type: 'NVIDIA_GEFORCE_RTX_4090', label: 'NVIDIA GeForce RTX 4090', devices: [0] },
  ]);
});

it('finds nothing in what is not a list of GPUs', () => {
  expect(readNvidiaSmi([])).toEqual([]);
  expect(
    readNvidiaSmi(["NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."]),
  ).toEqual([]);
});
