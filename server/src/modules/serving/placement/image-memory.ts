import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';

type Weights = readonly Pick<InputFile, 'path' | 'size_bytes'>[];

/** Bytes of all weights of an image model, and of the weights that must be on a GPU at the same time. */
export type ImageMemory = { allBytes: number; gpuBytes: number };

/** Folder of the base model, if the experts are stored as differences from it. */
const BASE = 'base';
const EXPERT = /^expert_\d+$/;

/** Returns the memory of a model that must be completely on the GPU. */
export function memoryOfAllWeights(weights: Weights): ImageMemory {
  const allBytes = sumOf(weights.map(({ size_bytes }) => size_bytes));
  return { allBytes, gpuBytes: allBytes };
}

/**
 * Returns the memory of a Paris model. Only one expert must be on the GPU; the others can wait in main
 * memory. An expert that is stored as a difference is as large as the base once it is loaded.
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
