import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';

type Weights = readonly Pick<InputFile, 'path' | 'size_bytes'>[];

/** The bytes of an image model's weights: all of them, and those that a GPU has to have at once. */
export type ImageMemory = { allBytes: number; gpuBytes: number };

/** What experts in `expert_0/` and so on are differences from, where they are. */
const BASE = 'base';
const EXPERT = /^expert_\d+$/;

/** Of a model that lies on the GPU whole. Pure. */
export function wholeMemory(weights: Weights): ImageMemory {
  const allBytes = sumOf(weights.map(({ size_bytes }) => size_bytes));
  return { allBytes, gpuBytes: allBytes };
}

/**
 * Of a Paris: the experts for which a GPU has no room wait in the machine's memory, all but one. An expert that is stored as
 * a difference is as large as its base once it is loaded. Pure.
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
