import path from 'node:path';
import { root } from '../root.ts';
import type { FileTimes } from './test-report.ts';

export type FinishedStage = { title: string; ms: number; fileTimes: FileTimes };

const SLOWEST = 5;

/** Prints the time of each stage and the slowest test files of all stages. */
export function printSummary(stages: FinishedStage[]): void {
  console.log('\nTime by stage');
  for (const { title, ms } of stages) console.log(`  ${inSeconds(ms)}  ${title}`);
  const slowest = stages
    .flatMap(({ fileTimes }) => Object.entries(fileTimes))
    .sort(([, a], [, b]) => b - a)
    .slice(0, SLOWEST);
  console.log('Slowest files');
  for (const [file, ms] of slowest)
    console.log(`  ${inSeconds(ms)}  ${path.isAbsolute(file) ? path.relative(root, file) : file}`);
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1).padStart(7)} s`;
}
