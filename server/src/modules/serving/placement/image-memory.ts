import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';

type Weights = readonly Pick<InputFile, 'path' | 'size_bytes'>[];

/** Bytes of an image model's weights: in total, and those that must be on a GPU at the same time. */
export type ImageMemory = { allBytes: number; gpuBytes: number };

/** The folder with the base of experts that are stored as differences. */
const BASE = 'base';
const EXPERT = /^expert_\d+$/;

/** Returns the memory of a model that is entirely on the GPU. */
export function memoryOfAllWeights(weights: Weights): ImageMemory {
  const allBytes = sumOf(weights.map(({ size_bytes }) => size_bytes));
  return { allBytes, gpuBytes: allBytes };
}

/**
 * Returns the memory of a Paris model: experts that do not fit on the GPU wait in main memory, all but one.
 * An expert stored as a difference is as large as its base once loaded.
 */
export function parisMemory(weights: Weights): ImageMemory {
  const bytesOf = (folder: string) =>
    sumOf(weights.filter(({ path }) => folderOf(path) === folder).map(({ size_bytes }) => size_bytes));
  const folders = [...new Set(weights.map(({ path }) => folderOf(path)))];
  const baseBytes = bytesOf(BASE);
  const experts = folders
    .filter((folder) => EXPERT.test(folder))
    .map((folder) => Math.max(bytesOf(folder), baseBytes));
  const shared = folders.filter((folder) => folder !== BASE && !EXPERT.test(folder));
  const sharedBytes = sumOf(shared.map(bytesOf));
  return {
    allBytes: sharedBytes + sumOf(experts),
    gpuBytes: sharedBytes + Math.max(0, ...experts),
  };
}

function folderOf(path: string): string {
  return path.slice(0, path.indexOf('/'));
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}
