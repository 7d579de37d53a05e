import { expect, it } from 'vitest';
import { readNvidiaSmi } from './accelerators.ts';

it('groups GPUs by the names of the product and keeps their numbers', () => {
  const found = readNvidiaSmi([
    '0, NVIDIA A100-SXM4-80GB, 81920, 8.0',
    '1, NVIDIA A100-PCIE-40GB, 40960, 8.0',
    '2, NVIDIA A100-SXM4-80GB, 81920, 8.0',
    '3, Tesla V100-SXM2-16GB, 16384, 7.0',
    '4, NVIDIA H100 80GB HBM3, 81559, 9.0',
  ]);
  expect(found.map(({ type, like, devices }) => [type, like, devices])).toEqual([
    ['NVIDIA_TESLA_A100_80GB', 'NVIDIA_TESLA_A100_80GB', [0, 2]],
    ['NVIDIA_TESLA_A100', 'NVIDIA_TESLA_A100', [1]],
    ['NVIDIA_TESLA_V100', 'NVIDIA_TESLA_V100', [3]],
    ['NVIDIA_H100_80GB', 'NVIDIA_H100_80GB', [4]],
  ]);
  expect(found[3]).toMatchObject({ memoryBytes: 81559 * 1024 * 1024 });
});

it.each([
  ['Tesla T4, 15360, 7.5', 'NVIDIA_TESLA_V100'],
  ['NVIDIA GeForce RTX 4090, 24564, 8.9', 'NVIDIA_TESLA_V100'],
  ['NVIDIA A10, 23028, 8.6', 'NVIDIA_TESLA_V100'],
  ['NVIDIA GeForce RTX 5090, 32607, 12.0', 'NVIDIA_TESLA_A100'],
  ['NVIDIA L40S, 46068, 8.9', 'NVIDIA_TESLA_A100'],
  ['NVIDIA A800-SXM4-80GB, 81920, 8.0', 'NVIDIA_TESLA_A100_80GB'],
  ['NVIDIA H200, 143771, 9.0', 'NVIDIA_H100_80GB'],
  ['NVIDIA B200, 183359, 10.0', 'NVIDIA_H100_80GB'],
])('a GPU that the product does not list keeps its name and is like one that it lists: %s', (line, like) => {
  const [name] = line.split(',');
  expect(readNvidiaSmi([`0, ${line}`])).toMatchObject([{ type: name, like, devices: [0] }]);
});

it('counts on the smaller memory where one name stands for two', () => {
  const lines = ['0, NVIDIA GeForce RTX 3060, 12288, 8.6', '1, NVIDIA GeForce RTX 3060, 8192, 8.6'];
  expect(readNvidiaSmi(lines)).toMatchObject([{ memoryBytes: 8 * 1024 ** 3, devices: [0, 1] }]);
});

it('leaves out GPUs that nothing can run on', () => {
  expect(readNvidiaSmi(['0, NVIDIA GeForce GT 1030, 2048, 6.1'])).toEqual([]);
});

it('finds nothing in what is not a list of GPUs', () => {
  expect(readNvidiaSmi([])).toEqual([]);
  expect(
    readNvidiaSmi(["NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."]),
  ).toEqual([]);
});
