import { expect, it } from 'vitest';
import { readNvidiaSmi } from './accelerators.ts';

it('groups GPUs by product name and keeps their indexes', () => {
  const { gpus: found, tooOld } = readNvidiaSmi([
    '0, NVIDIA A100-SXM4-80GB, 81920, 8.0, 580.65.06',
    '1, NVIDIA A100-PCIE-40GB, 40960, 8.0, 580.65.06',
    '2, NVIDIA A100-SXM4-80GB, 81920, 8.0, 580.65.06',
    '3, Tesla V100-SXM2-16GB, 16384, 7.0, 580.65.06',
    '4, NVIDIA H100 80GB HBM3, 81559, 9.0, 580.65.06',
  ]);
  expect(found.map(({ type, like, devices }) => [type, like, devices])).toEqual([
    ['NVIDIA_TESLA_A100_80GB', 'NVIDIA_TESLA_A100_80GB', [0, 2]],
    ['NVIDIA_TESLA_A100', 'NVIDIA_TESLA_A100', [1]],
    ['NVIDIA_H100_80GB', 'NVIDIA_H100_80GB', [4]],
  ]);
  expect(tooOld).toEqual([
    'Tesla V100-SXM2-16GB is not used: this PyTorch has no code for GPUs of compute capability 7.0, only from 7.5 on.',
  ]);
  expect(found[2]).toMatchObject({ memoryBytes: 81559 * 1024 * 1024 });
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
])('keeps the name of an unlisted GPU and matches it to the most similar listed GPU: %s', (line, like) => {
  const [name] = line.split(',');
  expect(readNvidiaSmi([`0, ${line}, 580.65.06`])).toMatchObject({
    gpus: [{ type: name, like, devices: [0] }],
    tooOld: [],
    needDriver: [],
    withoutVllm: [],
  });
});

it('does not exclude GPUs if a custom PyTorch index is set, except from vLLM', () => {
  const lines = ['0, Tesla V100-SXM2-16GB, 16384, 7.0, 550.54.15', '1, Tesla T4, 15360, 7.5, 550.54.15'];
  const found = readNvidiaSmi(lines, 'https://index.example/cu126');
  expect(found.gpus.map(({ devices }) => devices)).toEqual([[0], [1]]);
  expect(found).toMatchObject({ tooOld: [], needDriver: [] });
  expect(found.withoutVllm).toEqual([
    expect.stringMatching(/^Tesla V100-SXM2-16GB serves no text: .*this one has 7\.0 and 550\.54\.15\.$/),
    expect.stringMatching(/^Tesla T4 serves no text: .*this one has 7\.5 and 550\.54\.15\.$/),
  ]);
});

it('uses the smaller of two memory sizes with the same name', () => {
  const lines = [
    '0, NVIDIA GeForce RTX 3060, 12288, 8.6, 580.65.06',
    '1, NVIDIA GeForce RTX 3060, 8192, 8.6, 580.65.06',
  ];
  expect(readNvidiaSmi(lines).gpus).toMatchObject([{ memoryBytes: 8 * 1024 ** 3, devices: [0, 1] }]);
});

it('leaves out GPUs with an old driver, and reports each type once', () => {
  const lines = ['535.230.02', '535.230.02'].map((driver, at) => `${at}, NVIDIA L4, 23034, 8.9, ${driver}`);
  expect(readNvidiaSmi(lines)).toEqual({
    gpus: [],
    tooOld: [],
    needDriver: [
      'NVIDIA L4 is not used: its NVIDIA driver is 535.230.02. Install driver 580 or newer, and restart the machine.',
    ],
    withoutVllm: [],
  });
});

it('finds nothing in output that is not a list of GPUs', () => {
  expect(readNvidiaSmi([]).gpus).toEqual([]);
  expect(
    readNvidiaSmi(["NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."]).gpus,
  ).toEqual([]);
});
