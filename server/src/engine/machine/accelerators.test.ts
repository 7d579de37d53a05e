import { expect, it } from 'vitest';
import { readNvidiaSmi } from './accelerators.ts';

it('groups GPUs by the names of the product', () => {
  const found = readNvidiaSmi([
    'NVIDIA A100-SXM4-80GB, 81920',
    'NVIDIA A100-SXM4-80GB, 81920',
    'NVIDIA A100-PCIE-40GB, 40960',
    'Tesla V100-SXM2-16GB, 16384',
    'NVIDIA H100 80GB HBM3, 81559',
  ]);
  expect(found.map(({ gpu_type, count }) => [gpu_type, count])).toEqual([
    ['NVIDIA_TESLA_A100_80GB', 2],
    ['NVIDIA_TESLA_A100', 1],
    ['NVIDIA_TESLA_V100', 1],
    ['NVIDIA_H100_80GB', 1],
  ]);
  expect(found[3]).toMatchObject({ label: 'NVIDIA H100 (80GB)', memory_bytes: 81559 * 1024 * 1024 });
});

it("keeps the driver's name for a GPU that the product does not list", () => {
  expect(readNvidiaSmi(['NVIDIA GeForce RTX 4090, 24564'])).toMatchObject([
    { gpu_type: 'NVIDIA_GEFORCE_RTX_4090', label: 'NVIDIA GeForce RTX 4090', count: 1 },
  ]);
});

it('finds nothing in what is not a list of GPUs', () => {
  expect(readNvidiaSmi([])).toEqual([]);
  expect(
    readNvidiaSmi(["NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."]),
  ).toEqual([]);
});
